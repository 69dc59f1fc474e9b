/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/profile/count_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "render/table/conclusion.h"
#include "render/table/style.h"

void count_report_sum(const struct count_report *report, struct count_sums *ret)
{
	*ret = (struct count_sums){ 0 };
	for (size_t i = 0; i < report->list->count; i++)
		if (!report->only || report->only == &report->list->programs[i])
			count_sums_add(ret, &report->list->programs[i].sums);
}

static void add_bytes(struct strbuf *out, const struct count_report *report,
		      uint64_t bytes)
{
	char buf[UNITS_TEXT_SIZE];

	if (report->options.exact_bytes && bytes_known(bytes))
		strbuf_add_u64(out, bytes);
	else
		strbuf_add_text(out, units_format_bytes(bytes, buf));
}

/*
 * Return the rounded count per second, or BYTES_UNKNOWN if the count is unknown or the
 * time is 0.
 */
static uint64_t rate(uint64_t count, uint64_t ns)
{
	if (!bytes_known(count) || ns == 0)
		return BYTES_UNKNOWN;
	return (uint64_t)((double)count * (double)NS_PER_S / (double)ns + 0.5);
}

/*
 * Append a count such as "12345" or "1.2M". Units are powers of 1000, because
 * the counts are numbers of calls, not of bytes.
 */
static void add_short_count(struct strbuf *out, uint64_t count)
{
	static const struct {
		uint64_t from, unit;
		char letter;
	} units[] = { { 1000000000, 1000000000, 'G' },
		      { 1000000, 1000000, 'M' },
		      { 10000, 1000, 'k' } };

	if (!bytes_known(count)) {
		strbuf_add_char(out, '-');
		return;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (count >= units[i].from) {
			strbuf_addf(out, "%" PRIu64 ".%" PRIu64 "%c",
				    count / units[i].unit,
				    count % units[i].unit * 10 / units[i].unit,
				    units[i].letter);
			return;
		}
	strbuf_add_u64(out, count);
}

/* Append how the calls were counted, and which calls this method cannot count. */
static void add_means(struct strbuf *out, const struct count_means *means, bool ascii)
{
	strbuf_add_text(out, "\ncounted by ");
	text_add_printable(out, means->description, strlen(means->description), ascii);
	strbuf_add_text(out, "\nnot seen: ");
	text_add_printable(out, means->unseen, strlen(means->unseen), ascii);
	strbuf_add_char(out, '\n');
	if (means->refused[0] == '\0')
		return;
	strbuf_add_text(out, "not taken: ");
	text_add_printable(out, means->refused, strlen(means->refused), ascii);
	strbuf_add_char(out, '\n');
}

static void add_name(struct strbuf *out, const struct count_report *report)
{
	const struct count_program *p = report->only;
	char elapsed[UNITS_TEXT_SIZE];

	units_format_duration(report->elapsed_ns, elapsed);
	if (!p) {
		strbuf_addf(out, "%zu program%s in %s\n", report->list->count,
			    report->list->count == 1 ? "" : "s", elapsed);
		return;
	}
	text_add_printable(out, p->name, strlen(p->name), report->options.ascii);
	strbuf_addf(out,
		    ": pid %d, %" PRIu64 " thread%s made calls, %s %s %s%s, malloc of ",
		    p->pid, p->thread_count, p->thread_count == 1 ? "" : "s",
		    p->has_ended ? "ended" : "still running", p->means ? "after" : "in",
		    elapsed, p->means ? " since attached" : "");
	text_add_printable(out, p->allocator, strlen(p->allocator),
			   report->options.ascii);
	strbuf_add_char(out, '\n');
}

static void add_functions(struct strbuf *out, const struct count_report *report,
			  const struct count_sums *sums)
{
	int null_row = sums->calls[CALL_FREE] > 0 ? CALL_FREE : CALL_DELETE;
	size_t begin = out->length;

	strbuf_addf(out, "\n%-16s %14s %10s\n", "FUNCTION", "CALLS", "PER SECOND");
	style_mark_line(out, begin, STYLE_HEADING, report->options.colour);
	for (int i = 0; i < CALL_COUNT_; i++) {
		_cleanup_strbuf_ struct strbuf per_s = STRBUF_INIT;

		if (sums->calls[i] == 0)
			continue;
		add_short_count(&per_s, rate(sums->calls[i], report->elapsed_ns));
		strbuf_addf(out, "%-16s ", counted_call_names[i]);
		if (bytes_known(sums->calls[i]))
			strbuf_addf(out, "%14" PRIu64, sums->calls[i]);
		else
			strbuf_addf(out, "%14s", "-");
		strbuf_addf(out, " %10s\n", strbuf_text(&per_s));
		if (i == null_row && bytes_known(sums->free_null_calls) &&
		    sums->free_null_calls > 0)
			strbuf_addf(out, "%-16s %14" PRIu64 "\n", "  free(NULL)",
				    sums->free_null_calls);
	}
}

static void add_count(struct strbuf *out, const char *label, uint64_t count)
{
	strbuf_addf(out, "%-16s ", label);
	if (bytes_known(count))
		strbuf_addf(out, "%14" PRIu64, count);
	else
		strbuf_addf(out, "%14s", "-");
}

static void add_sums(struct strbuf *out, const struct count_report *report,
		     const struct count_sums *sums)
{
	uint64_t given = bytes_sub(sums->allocation_calls, bytes_known(sums->failed_calls)
								   ? sums->failed_calls
								   : 0);

	strbuf_add_char(out, '\n');
	add_count(out, "allocations", sums->allocation_calls);
	strbuf_add_text(out, "  requested ");
	add_bytes(out, report, sums->requested_bytes);
	if (bytes_known(given) && given > 0 && bytes_known(sums->requested_bytes)) {
		strbuf_add_text(out, ", on average ");
		add_bytes(out, report, sums->requested_bytes / given);
	}
	strbuf_add_char(out, '\n');
	if (sums->failed_calls > 0 && bytes_known(sums->failed_calls)) {
		add_count(out, "  failed", sums->failed_calls);
		strbuf_add_char(out, '\n');
	}
	if (bytes_known(sums->temporary_blocks)) {
		unsigned int share = units_per_mille(sums->temporary_blocks, given);

		add_count(out, "  temporary", sums->temporary_blocks);
		strbuf_addf(out, "  %u.%u%%\n", share / 10, share % 10);
	}
	if (bytes_known(sums->live_blocks)) {
		add_count(out, "not freed", sums->live_blocks);
		strbuf_add_text(out, "  usable ");
		add_bytes(out, report, sums->live_bytes);
		strbuf_add_char(out, '\n');
	}
}

static void add_peak(struct strbuf *out, const struct count_report *report)
{
	const struct count_program *p = report->only;

	if (!p || !bytes_known(p->peak_live_bytes))
		return;
	strbuf_addf(out, "%-31s  usable ", "peak");
	add_bytes(out, report, p->peak_live_bytes);
	if (p->peak_error_bytes > 0) {
		strbuf_add_text(out, report->options.ascii ? " +- " : " ± ");
		add_bytes(out, report, p->peak_error_bytes);
	}
	strbuf_add_char(out, '\n');
}

static int compare_threads(const void *a, const void *b)
{
	const struct count_thread *p = *(const struct count_thread *const *)a;
	const struct count_thread *q = *(const struct count_thread *const *)b;
	uint64_t n = bytes_add(p->sums.allocation_calls, p->sums.calls[CALL_FREE]);
	uint64_t m = bytes_add(q->sums.allocation_calls, q->sums.calls[CALL_FREE]);

	return n != m ? (n < m ? 1 : -1) : (p->tid > q->tid) - (p->tid < q->tid);
}

static int compare_programs(const void *a, const void *b)
{
	const struct count_row *p = *(const struct count_row *const *)a;
	const struct count_row *q = *(const struct count_row *const *)b;
	uint64_t n = p->program->sums.allocation_calls,
		 m = q->program->sums.allocation_calls;

	return n != m ? (n < m ? 1 : -1) : (p > q) - (p < q);
}

/* Append a table of the first report->top rows, and the number of rows left out. */
static void add_rows(struct strbuf *out, const struct count_report *report,
		     const struct column_set *set, const void **rows, size_t count)
{
	struct column_list columns = COLUMN_LIST_INIT;
	size_t shown = count < report->top ? count : report->top;
	char *bad = NULL;

	if (column_list_parse(set, set->table_default, set->table_default, &columns,
			      &bad) == 0) {
		strbuf_add_char(out, '\n');
		table_add(out, &columns, rows, shown, &report->options);
		if (shown < count)
			strbuf_addf(out, "and %zu more (--top N)\n", count - shown);
	}
	free(bad);
	column_list_release(&columns);
}

static void add_threads(struct strbuf *out, const struct count_report *report)
{
	const struct count_program *p = report->only;
	const void **rows = xcalloc(p->listed_count + 1, sizeof(*rows));

	for (size_t i = 0; i < p->listed_count; i++)
		rows[i] = &p->threads[i];
	if (p->listed_count > 1) {
		qsort(rows, p->listed_count, sizeof(*rows), compare_threads);
		add_rows(out, report, &count_thread_columns, rows, p->listed_count);
	}
	free(rows);
}

static void add_programs(struct strbuf *out, const struct count_report *report)
{
	size_t count = report->list->count;
	struct count_row *rows = xcalloc(count + 1, sizeof(*rows));
	const void **order = xcalloc(count + 1, sizeof(*order));

	for (size_t i = 0; i < count; i++) {
		rows[i].program = &report->list->programs[i];
		order[i] = &rows[i];
	}
	qsort(order, count, sizeof(*order), compare_programs);
	add_rows(out, report, &count_columns, order, count);
	free(rows);
	free(order);
}

void count_report_add_text(struct strbuf *out, const struct count_report *report)
{
	_cleanup_conclusion_ struct conclusion conclusion = CONCLUSION_INIT;
	struct count_origin origin = report->origin;
	struct count_sums sums;

	count_report_sum(report, &sums);
	origin.has_ended = report->only ? report->only->has_ended : !!origin.command;
	count_conclude(&conclusion, &sums, &origin);
	add_name(out, report);
	conclusion_add_opening(out, &conclusion, &report->options);
	add_functions(out, report, &sums);
	add_sums(out, report, &sums);
	add_peak(out, report);
	if (report->only)
		add_threads(out, report);
	else
		add_programs(out, report);
	if (report->only && report->only->means)
		add_means(out, report->only->means, report->options.ascii);
	conclusion_add_next(out, &conclusion);
}

static bool is_shown(const struct count_report *report, size_t index)
{
	return !report->only || report->only == &report->list->programs[index];
}

void count_report_add_csv(struct strbuf *out, const struct count_report *report,
			  const struct column_list *columns)
{
	for (size_t i = 0; i < report->list->count; i++) {
		const struct count_row row = { &report->list->programs[i],
					       report->unix_ms, report->elapsed_ns,
					       NULL };

		if (is_shown(report, i))
			csv_add_row(out, columns, &row);
	}
}

static void add_json_means(struct json *j, const struct count_means *means)
{
	json_begin_object(j, "attached");
	json_add_string(j, "method", means->method);
	json_add_string(j, "how", means->description);
	json_add_string(j, "not_seen", means->unseen);
	json_add_string(j, "not_taken", means->refused);
	json_end_object(j);
}

static void add_json_program(struct json *j, const struct count_row *row,
			     const struct column_list *columns,
			     const struct column_list *thread_columns)
{
	json_begin_object(j, NULL);
	json_add_members(j, columns, row);
	if (row->program->means)
		add_json_means(j, row->program->means);
	json_begin_array(j, "thread_list");
	for (size_t i = 0; i < row->program->listed_count; i++)
		json_add_row(j, NULL, thread_columns, &row->program->threads[i]);
	json_end_array(j);
	json_end_object(j);
}

void count_report_add_json(struct strbuf *out, const struct count_report *report,
			   const struct column_list *columns)
{
	struct json j = json_begin_report(out, "count");
	struct column_list thread_columns;
	char utc[CLOCK_TEXT_SIZE];

	column_list_all(&count_thread_columns, &thread_columns);
	json_add_string(&j, "time", clock_format_utc(report->unix_ms, utc));
	json_add_seconds_ms(&j, "elapsed_s", report->elapsed_ns);
	json_begin_array(&j, "programs");
	for (size_t i = 0; i < report->list->count; i++) {
		const struct count_row row = { &report->list->programs[i],
					       report->unix_ms, report->elapsed_ns,
					       NULL };

		if (is_shown(report, i))
			add_json_program(&j, &row, columns, &thread_columns);
	}
	json_end_array(&j);
	json_end_report(&j);
	column_list_release(&thread_columns);
}

static uint64_t moved(uint64_t now, uint64_t before)
{
	return bytes_known(now) && bytes_known(before) && now >= before ? now - before
									: BYTES_UNKNOWN;
}

void count_report_add_line(struct strbuf *out, const struct count_report *report,
			   const struct count_sums *before, uint64_t between_ns)
{
	char elapsed[UNITS_TEXT_SIZE];
	struct count_sums now;
	size_t begin = out->length;

	count_report_sum(report, &now);
	strbuf_addf(out, "%s: allocations ",
		    units_format_duration(report->elapsed_ns, elapsed));
	add_short_count(out, now.allocation_calls);
	strbuf_add_text(out, " (");
	add_short_count(out, rate(moved(now.allocation_calls, before->allocation_calls),
				  between_ns));
	strbuf_add_text(out, "/s, ");
	add_bytes(out, report,
		  rate(moved(now.requested_bytes, before->requested_bytes), between_ns));
	strbuf_add_text(out, "/s), frees ");
	add_short_count(out, now.calls[CALL_FREE]);
	strbuf_add_text(out, " (");
	add_short_count(out, rate(moved(now.calls[CALL_FREE], before->calls[CALL_FREE]),
				  between_ns));
	strbuf_add_text(out, "/s), live ");
	add_bytes(out, report, now.live_bytes);
	if (report->only) {
		strbuf_add_text(out, ", peak ");
		add_bytes(out, report, report->only->peak_live_bytes);
	}
	if (report->options.max_width > 0)
		strbuf_truncate(
			out,
			begin + text_cut_to_width(out->text + begin, out->length - begin,
						  (size_t)report->options.max_width));
}
