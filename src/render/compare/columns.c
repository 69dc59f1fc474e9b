/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "render/compare/report.h"

enum statistic {
	STATISTIC_RUN, /* a row with the values of a single run */
	STATISTIC_MEDIAN,
	STATISTIC_MIN,
	STATISTIC_MAX,
	STATISTIC_COUNT_
};

static const char *const statistic_names[STATISTIC_COUNT_] = {
	[STATISTIC_RUN] = "run",
	[STATISTIC_MEDIAN] = "median",
	[STATISTIC_MIN] = "min",
	[STATISTIC_MAX] = "max",
};

struct compare_row {
	const struct compare_view *view;
	size_t variant;
	enum statistic statistic;
	/* the run that the row describes; NULL for a median, minimum or maximum */
	const struct run *run;
};

static const struct compare_row *row_of(const void *row)
{
	return row;
}

enum {
	TEXT_VARIANT,
	TEXT_ALLOCATOR,
	TEXT_STATISTIC,
	TEXT_PROBLEM
};

static void get_text(const void *row, int arg, struct value *ret)
{
	const struct compare_row *r = row_of(row);
	const struct variant *variant = &r->view->comparison->variants[r->variant];
	const char *const texts[] = {
		[TEXT_VARIANT] = variant->name,
		[TEXT_ALLOCATOR] = allocator_names[variant->allocator],
		[TEXT_STATISTIC] = statistic_names[r->statistic],
		[TEXT_PROBLEM] = r->run ? r->run->problem : NULL,
	};

	value_set_text(ret, texts[arg]);
}

static void get_run(const void *row, int arg, struct value *ret)
{
	const struct compare_row *r = row_of(row);

	(void)arg;
	if (r->run)
		value_set_number(ret, r->run->number);
}

static void get_good_runs(const void *row, int arg, struct value *ret)
{
	const struct compare_row *r = row_of(row);

	(void)arg;
	if (!r->run)
		value_set_number(ret, r->view->compared->variants[r->variant].good_count);
}

static uint64_t statistic_of(const struct spread *spread, enum statistic statistic)
{
	switch (statistic) {
	case STATISTIC_MIN: return spread->min;
	case STATISTIC_MAX: return spread->max;
	default: return spread->median;
	}
}

static void get_figure(const void *row, int arg, struct value *ret)
{
	const struct compare_row *r = row_of(row);
	const struct compared_variant *variant = &r->view->compared->variants[r->variant];
	enum figure figure = (enum figure)arg;

	if (r->run)
		value_set_amount(ret,
				 compare_run_figure(r->view->comparison, r->run, figure));
	else
		value_set_amount(ret,
				 statistic_of(&variant->figures[figure], r->statistic));
}

static void get_heap_quality(const void *row, int arg, struct value *ret)
{
	const struct compare_row *r = row_of(row);
	enum quality quality = r->view->compared->variants[r->variant].heap_quality[arg];
	size_t sample = r->run ? r->run->moments[arg] : 0;

	if (r->run)
		quality = sample < r->run->sample_count
				  ? r->run->samples[sample].heap_quality
				  : QUALITY_UNKNOWN;
	value_set_text(ret, quality_names[quality]);
}

#define TEXT(name, heading, kind, which, help)                       \
	{                                                            \
		name, heading, help, kind, false, 0, which, get_text \
	}
#define FIGURE(name, heading, kind, figure, help)                      \
	{                                                              \
		name, heading, help, kind, true, 0, figure, get_figure \
	}
#define AT(when, heading, moment, name, amount, help)                    \
	{                                                                \
		when name "_bytes", heading, help, VALUE_BYTES, true, 0, \
			FIGURE_AT(moment, amount), get_figure            \
	}
#define MOMENT(when, heading, moment, what)                                               \
	AT(when, heading "RSS", moment, "rss", AMOUNT_RSS, "resident memory " what),      \
		AT(when, heading "LIVE", moment, "live", AMOUNT_OWNER + OWNER_LIVE,       \
		   "of which allocated blocks"),                                          \
		AT(when, heading "POOL", moment, "pool_pages",                            \
		   AMOUNT_OWNER + OWNER_POOL_PAGES,                                       \
		   "freed, whole pages kept by the allocator"),                           \
		AT(when, heading "FRAGS", moment, "pool_fragments",                       \
		   AMOUNT_OWNER + OWNER_POOL_FRAGMENTS,                                   \
		   "freed, on pages shared with live blocks"),                            \
		AT(when, heading "META", moment, "heap_meta",                             \
		   AMOUNT_OWNER + OWNER_HEAP_META, "the allocator's own data"),           \
		AT(when, heading "STACK", moment, "stack", AMOUNT_OWNER + OWNER_STACK,    \
		   "stacks of all threads"),                                              \
		AT(when, heading "ANON", moment, "anon", AMOUNT_OWNER + OWNER_ANON,       \
		   "other private anonymous memory; the heap too where it was not read"), \
		AT(when, heading "FILE", moment, "file", AMOUNT_OWNER + OWNER_FILE,       \
		   "mapped files"),                                                       \
		AT(when, heading "SHMEM", moment, "shmem", AMOUNT_OWNER + OWNER_SHMEM,    \
		   "shared memory"),                                                      \
		AT(when, heading "LAZYFREE", moment, "lazyfree", AMOUNT_LAZYFREE,         \
		   "of which LazyFree: freed, and reclaimed under memory pressure"),      \
		AT(when, heading "FIRM", moment, "firm", AMOUNT_FIRM,                     \
		   "Rss without LazyFree"),                                               \
		AT(when, heading "UNBACKED", moment, "unbacked", AMOUNT_UNBACKED,         \
		   "accessible private anonymous address space without a page"),          \
		AT(when, heading "SWAP", moment, "swap", AMOUNT_SWAP, "swapped out"),     \
	{                                                                                 \
		when "heap_quality", heading "HEAP", "quality of the heap's owners",      \
			VALUE_WORD, false, 0, moment, get_heap_quality                    \
	}

static const struct column columns[] = {
	TEXT("variant", "VARIANT", VALUE_TEXT, TEXT_VARIANT,
	     "allocator and settings, as requested"),
	TEXT("allocator", "ALLOCATOR", VALUE_WORD, TEXT_ALLOCATOR,
	     "the allocator's name"),
	TEXT("statistic", "WHAT", VALUE_WORD, TEXT_STATISTIC,
	     "run, or median, min, max of the good runs"),
	{ "run", "RUN", "number of the run", VALUE_COUNT, false, 0, 0, get_run },
	{ "good_runs", "GOOD", "number of runs in the median", VALUE_COUNT, true, 0, 0,
	  get_good_runs },
	TEXT("problem", "PROBLEM", VALUE_TEXT, TEXT_PROBLEM, "why the run is excluded"),
	FIGURE("wall_s", "WALL", VALUE_SECONDS, FIGURE_WALL, "time from start to end"),
	FIGURE("cpu_s", "CPU", VALUE_SECONDS, FIGURE_CPU, "CPU time, user and system"),
	FIGURE("user_s", "USER", VALUE_SECONDS, FIGURE_USER, "CPU time in the program"),
	FIGURE("system_s", "SYSTEM", VALUE_SECONDS, FIGURE_SYSTEM,
	       "CPU time in the kernel"),
	FIGURE("minor_faults", "MINFLT", VALUE_COUNT, FIGURE_MINOR_FAULTS,
	       "page faults without I/O"),
	FIGURE("major_faults", "MAJFLT", VALUE_COUNT, FIGURE_MAJOR_FAULTS,
	       "page faults with I/O"),
	FIGURE("given_back", "BACK", VALUE_COUNT, FIGURE_RELEASE_CALLS,
	       "calls to madvise, munmap and similar functions"),
	FIGURE("above_s", "ABOVE", VALUE_SECONDS, FIGURE_ABOVE,
	       "time with Rss above the requested limit"),
	FIGURE("peak_rss_bytes", "PEAK", VALUE_BYTES, FIGURE_PEAK_RSS,
	       "peak resident memory according to the kernel"),
	FIGURE("late_live_bytes", "LATELIVE", VALUE_BYTES, FIGURE_LATE_LIVE,
	       "live at the end of the work, or when last read shortly before"),
	FIGURE("rss_growth_bytes", "RSSGROWTH", VALUE_BYTES, FIGURE_RSS_GROWTH,
	       "growth of Rss in the second half of the work"),
	FIGURE("allocation_calls", "ALLOCATIONS", VALUE_COUNT, FIGURE_ALLOCATIONS,
	       "with --count: calls that allocate, in a separate run"),
	FIGURE("requested_bytes", "REQUESTED", VALUE_BYTES, FIGURE_REQUESTED,
	       "with --count: bytes that these calls requested"),
	FIGURE("temporary_blocks", "TEMPORARY", VALUE_COUNT, FIGURE_TEMPORARY,
	       "with --count: blocks freed with no other call in the thread since "
	       "their allocation"),
	FIGURE("allocations_per_s", "ALLOC/S", VALUE_COUNT, FIGURE_ALLOCATION_RATE,
	       "with --count: calls per second of the median wall time"),
	MOMENT("at_peak_", "PEAK", MOMENT_PEAK, "in the largest sample"),
	MOMENT("at_end_", "END", MOMENT_END, "when the work was done"),
	MOMENT("settled_", "SET", MOMENT_SETTLED, "after settling"),
};

const struct column_set compare_columns = {
	.columns = columns,
	.count = sizeof(columns) / sizeof(columns[0]),
	.csv_default =
		"variant,allocator,statistic,run,good_runs,problem,wall_s,cpu_s,minor_faults,"
		"major_faults,given_back,above_s,peak_rss_bytes,rss_growth_bytes,late_live_bytes,"
		"allocation_calls,requested_bytes,temporary_blocks,allocations_per_s,"
		"at_peak_rss_bytes,at_peak_live_bytes,at_peak_pool_pages_bytes,"
		"at_peak_pool_fragments_bytes,at_peak_heap_meta_bytes,at_peak_stack_bytes,"
		"at_peak_anon_bytes,at_peak_file_bytes,at_peak_shmem_bytes,"
		"at_peak_lazyfree_bytes,at_peak_unbacked_bytes,at_peak_heap_quality,"
		"at_end_rss_bytes,settled_rss_bytes,settled_live_bytes,"
		"settled_pool_pages_bytes,settled_pool_fragments_bytes,settled_heap_meta_bytes,"
		"settled_stack_bytes,settled_anon_bytes,settled_file_bytes,settled_shmem_bytes,"
		"settled_lazyfree_bytes,settled_unbacked_bytes,settled_heap_quality",
	.table_default =
		"variant,statistic,run,wall_s,cpu_s,peak_rss_bytes,at_end_rss_bytes,"
		"settled_rss_bytes,settled_lazyfree_bytes,problem",
	.sort_default = NULL,
};

struct rows {
	struct compare_row *items;
	size_t count, capacity;
};

static void add_row(struct rows *rows, struct compare_row row)
{
	rows->items = xgrow(rows->items, &rows->capacity, rows->count + 1, sizeof(row));
	rows->items[rows->count++] = row;
}

static void find_rows(const struct compare_view *view, struct rows *rows)
{
	const struct comparison *c = view->comparison;

	for (size_t v = 0; v < c->variant_count; v++) {
		for (size_t r = 0; r < c->run_count; r++)
			if (c->runs[r].variant == v && !c->runs[r].is_warm_up &&
			    !c->runs[r].is_counting)
				add_row(rows,
					(struct compare_row){ view, v, STATISTIC_RUN,
							      &c->runs[r] });
		for (enum statistic s = STATISTIC_MEDIAN; s < STATISTIC_COUNT_; s++)
			add_row(rows, (struct compare_row){ view, v, s, NULL });
	}
}

void compare_add_table(struct strbuf *out, const struct compare_view *view,
		       const struct column_list *list,
		       const struct table_options *options)
{
	struct rows rows = { 0 };
	const void **pointers;

	find_rows(view, &rows);
	pointers = xcalloc(rows.count + 1, sizeof(*pointers));
	for (size_t i = 0; i < rows.count; i++)
		pointers[i] = &rows.items[i];
	table_add(out, list, pointers, rows.count, options);
	free(pointers);
	free(rows.items);
}

void compare_add_csv(struct strbuf *out, const struct compare_view *view,
		     const struct column_list *list, bool no_headings)
{
	struct rows rows = { 0 };

	find_rows(view, &rows);
	if (!no_headings)
		csv_add_header(out, list);
	for (size_t i = 0; i < rows.count; i++)
		csv_add_row(out, list, &rows.items[i]);
	free(rows.items);
}

static void add_verdicts(struct json *j, const struct verdicts *verdicts)
{
	json_begin_array(j, "verdict");
	for (size_t i = 0; i < verdicts->count; i++) {
		const struct verdict *v = &verdicts->items[i];

		json_begin_object(j, NULL);
		json_add_string(j, "rule", v->rule);
		json_add_string(j, "text", strbuf_text(&v->text));
		json_end_object(j);
	}
	json_end_array(j);
}

void compare_add_json(struct strbuf *out, const struct compare_view *view,
		      const struct column_list *list)
{
	const struct comparison *c = view->comparison;
	struct json j = json_begin_report(out, "compare");
	struct rows rows = { 0 };

	find_rows(view, &rows);
	json_add_string(&j, "command", c->command);
	json_add_string(&j, "workload", c->workload);
	json_add_seconds_ms(&j, "settle_s", c->settle_ns);
	json_add_amount(&j, "above_bytes", c->above_bytes);
	add_verdicts(&j, view->verdicts);
	json_begin_array(&j, "rows");
	for (size_t i = 0; i < rows.count; i++)
		json_add_row(&j, NULL, list, &rows.items[i]);
	json_end_array(&j);
	json_end_report(&j);
	free(rows.items);
}
