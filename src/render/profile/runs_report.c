/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/profile/runs_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "render/profile/count_report.h"
#include "render/table/style.h"

const char runs_csv_default[] =
	"run,time,elapsed_s,pid,program,malloc_calls,free_calls,calloc_calls,realloc_calls,"
	"reallocarray_calls,posix_memalign_calls,aligned_alloc_calls,memalign_calls,"
	"valloc_calls,pvalloc_calls,new_calls,delete_calls,allocation_calls,failed_calls,"
	"requested_bytes,temporary_blocks,live_blocks,live_bytes,peak_live_bytes,"
	"peak_error_bytes,peak_rss_bytes";

static const char *const outcome_names[] = {
	[LIMIT_KEPT] = "kept",	 [LIMIT_ABOVE] = "above",     [LIMIT_BELOW] = "below",
	[LIMIT_LOOSE] = "loose", [LIMIT_UNKNOWN] = "unknown",
};

static const struct count_program *first_program(const struct runs_report *report)
{
	return &report->runs->items[0].program;
}

static void add_name(struct strbuf *out, const struct runs_report *report)
{
	const struct count_program *p = first_program(report);
	size_t count = report->runs->items[0].program_count;

	text_add_printable(out, p->name, strlen(p->name), report->options.ascii);
	if (count > 1)
		strbuf_addf(out, ", %zu programs", count);
}

static void add_head(struct strbuf *out, const struct runs_report *report)
{
	const struct count_runs *runs = report->runs;
	const struct count_program *p = first_program(report);

	add_name(out, report);
	strbuf_addf(out, ": %zu run%s", runs->count, runs->count == 1 ? "" : "s");
	if (runs->iterations > 1)
		strbuf_addf(out, " of %" PRIu64 " iterations", runs->iterations);
	strbuf_add_text(out, ", malloc of ");
	text_add_printable(out, p->allocator, strlen(p->allocator),
			   report->options.ascii);
	strbuf_add_char(out, '\n');
}

/*
 * Append a line such as "Differ between runs: malloc, requested.", or a line that states
 * that all counts are equal.
 */
static void add_difference(struct strbuf *out, const struct runs_report *report)
{
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;

	if (report->runs->count < 2)
		return;
	if (report->stats->is_deterministic) {
		strbuf_add_text(
			out,
			"Deterministic to the byte: all counts are equal in all runs.\n");
		return;
	}
	for (unsigned int f = 0; f < COUNTED_COUNT_; f++) {
		const char *label = counted_figures[f].label;

		if (f != COUNTED_PEAK_RSS && report->stats->differs[f])
			strbuf_addf(&names, "%s%s", names.length > 0 ? ", " : "",
				    label + strspn(label, " "));
	}
	strbuf_addf(&names, ". All other counts are equal.");
	strbuf_add_text(out, "Differ between runs: ");
	text_add_wrapped(out, strbuf_text(&names), 2, 78);
}

static void add_cell(struct strbuf *out, uint64_t thousandths)
{
	char buf[UNITS_TEXT_SIZE];

	strbuf_addf(out, " %16s", units_format_thousandths(thousandths, buf));
}

static void add_figures(struct strbuf *out, const struct runs_report *report)
{
	size_t begin = out->length;

	strbuf_addf(out, "%-16s %16s %16s %16s\n", "FIGURE", "MEDIAN", "MIN", "MAX");
	style_mark_line(out, begin, STYLE_HEADING, report->options.colour);
	for (unsigned int f = 0; f < COUNTED_COUNT_; f++) {
		const struct spread *spread = &report->stats->figures[f];
		/*
		 * omit the line for a function that was never called, or for calls that
		 * never failed
		 */
		bool is_optional = f < CALL_COUNT_ || f == COUNTED_FREE_NULL ||
				   f == COUNTED_FAILED;

		if (!bytes_known(spread->median) || (is_optional && spread->max == 0))
			continue;
		if (f == COUNTED_ALLOCATIONS || (f == COUNTED_PEAK_LIVE))
			strbuf_add_char(out, '\n');
		strbuf_addf(out, "%-16s", counted_figures[f].label);
		add_cell(out, spread->median);
		add_cell(out, spread->min);
		add_cell(out, spread->max);
		strbuf_add_text(out, counted_figures[f].is_bytes ? "  bytes\n" : "\n");
	}
}

void runs_report_add_text(struct strbuf *out, const struct runs_report *report)
{
	add_head(out, report);
	add_difference(out, report);
	strbuf_add_char(out, '\n');
	add_figures(out, report);
	if (report->runs->iterations > 1)
		strbuf_addf(
			out,
			"\nFigures are per iteration, including start-up, divided by %" PRIu64
			"%s; but peaks are per run.\n",
			report->runs->iterations,
			report->stats->is_rounded ? " and rounded up to a thousandth"
						  : "");
}

static struct count_row row_of(const struct count_run *run)
{
	return (struct count_row){ &run->program, run->unix_ms, run->elapsed_ns, run };
}

void runs_report_add_csv(struct strbuf *out, const struct runs_report *report,
			 const struct column_list *columns)
{
	for (size_t i = 0; i < report->runs->count; i++) {
		const struct count_row row = row_of(&report->runs->items[i]);

		csv_add_row(out, columns, &row);
	}
}

static void add_thousandths(struct json *j, const char *key, uint64_t thousandths)
{
	char buf[UNITS_TEXT_SIZE];

	json_add_raw(j, key,
		     bytes_known(thousandths) ? units_format_thousandths(thousandths, buf)
					      : "null");
}

static void add_json_figures(struct json *j, const struct runs_report *report)
{
	json_begin_object(j, "figures");
	for (unsigned int f = 0; f < COUNTED_COUNT_; f++) {
		const struct spread *spread = &report->stats->figures[f];

		json_begin_object(j, counted_figures[f].name);
		add_thousandths(j, "median", spread->median);
		add_thousandths(j, "min", spread->min);
		add_thousandths(j, "max", spread->max);
		json_end_object(j);
	}
	json_end_object(j);
}

static void add_json_limits(struct json *j, const struct runs_report *report)
{
	json_begin_array(j, "limits");
	for (size_t i = 0; i < report->limit_count; i++) {
		const struct checked_limit *c = &report->limits[i];

		json_begin_object(j, NULL);
		json_add_string(j, "figure", counted_figures[c->limit.figure].name);
		json_add_string(j, "operator", limit_operators[c->limit.kind]);
		add_thousandths(j, "limit", c->limit.value_thousandths);
		add_thousandths(j, "measured",
				report->stats->figures[c->limit.figure].median);
		json_add_string(j, "outcome", outcome_names[c->outcome]);
		json_end_object(j);
	}
	json_end_array(j);
}

static void add_json_differing(struct json *j, const struct count_stats *stats)
{
	json_begin_array(j, "differing");
	for (unsigned int f = 0; f < COUNTED_COUNT_; f++)
		if (stats->differs[f])
			json_add_string(j, NULL, counted_figures[f].name);
	json_end_array(j);
}

void runs_report_add_json(struct strbuf *out, const struct runs_report *report,
			  const struct column_list *columns)
{
	const struct count_runs *runs = report->runs;
	struct json j = json_begin_report(out, "runs");

	json_add_string(&j, "command", report->command);
	json_add_string(&j, "program", first_program(report)->name);
	json_add_number(&j, "run_count", runs->count);
	json_add_number(&j, "iterations", runs->iterations);
	json_add_bool(&j, "is_deterministic", report->stats->is_deterministic);
	add_json_differing(&j, report->stats);
	add_json_figures(&j, report);
	add_json_limits(&j, report);
	json_begin_array(&j, "runs");
	for (size_t i = 0; i < runs->count; i++) {
		const struct count_row row = row_of(&runs->items[i]);

		json_add_row(&j, NULL, columns, &row);
	}
	json_end_array(&j);
	json_end_report(&j);
}
