/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/process/diff_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "classify/profile/diff_conclusion.h"
#include "render/table/conclusion.h"
#include "render/table/style.h"

static bool is_bytes(const struct diff_report *r)
{
	return profile_metrics[r->options->metric].is_bytes;
}

/* The functions below write the report as text. */

struct page {
	struct strbuf *out;
	const struct diff_report *report;
};

static void add_number(const struct page *p, uint64_t number, int width)
{
	char buf[UNITS_TEXT_SIZE];

	if (is_bytes(p->report) && !p->report->table.exact_bytes)
		strbuf_addf(p->out, "%*s", width, units_format_bytes(number, buf));
	else
		strbuf_addf(p->out, "%*" PRIu64, width, number);
}

static void add_change(const struct page *p, uint64_t before, uint64_t after, int width)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const struct page own = { &text, p->report };

	if (before != after)
		strbuf_add_char(&text, after > before ? '+' : '-');
	add_number(&own, after > before ? after - before : before - after, 0);
	strbuf_addf(p->out, "%*s", width, text.text);
}

static void add_printable(const struct page *p, const char *text)
{
	text_add_printable(p->out, text, strlen(text), p->report->table.ascii);
}

static void add_side(const struct page *p, const char *label,
		     const struct diff_side *side)
{
	const struct profile *profile = side->profile;
	char time[CLOCK_TEXT_SIZE], buf[UNITS_TEXT_SIZE];

	strbuf_addf(p->out, "%-7s ", label);
	add_printable(p, side->file);
	if (profile->command) {
		strbuf_add_text(p->out, ": ");
		add_printable(p, profile->command);
	}
	if (profile->unix_ms)
		strbuf_addf(p->out, ", %s", clock_format_utc(profile->unix_ms, time));
	if (profile->sample_bytes)
		strbuf_addf(p->out, ", an estimate from %" PRIu64 " samples, one per %s",
			    profile->sample_count,
			    units_format_bytes(profile->sample_bytes, buf));
	strbuf_add_char(p->out, '\n');
}

static void add_sum(const struct page *p, const char *label,
		    const struct profile_diff_sum *sum)
{
	strbuf_addf(p->out, "  %-14s %8" PRIu64 " ", label, sum->stack_count);
	add_number(p, sum->before, 14);
	strbuf_add_char(p->out, ' ');
	add_number(p, sum->after, 14);
	strbuf_add_char(p->out, ' ');
	add_change(p, sum->before, sum->after, 14);
	strbuf_add_char(p->out, '\n');
}

static void add_sums(const struct page *p)
{
	static const char *const labels[DIFF_KIND_COUNT_] = {
		[DIFF_ONLY_BEFORE] = "only before", [DIFF_ONLY_AFTER] = "only after",
		[DIFF_CHANGED] = "changed",	    [DIFF_EQUAL] = "equal",
		[DIFF_LEFT_OUT] = "left out",
	};
	const struct profile_diff *diff = p->report->diff;
	size_t begin = p->out->length;

	strbuf_addf(p->out, "\n  %-14s %8s %14s %14s %14s\n", "", "STACKS", "BEFORE",
		    "AFTER", "CHANGE");
	style_mark_line(p->out, begin, STYLE_HEADING, p->report->table.colour);
	for (int k = 0; k < DIFF_KIND_COUNT_; k++)
		add_sum(p, labels[k], &diff->sums[k]);
	add_sum(p, "all", &diff->total);
}

static void add_removed(const struct page *p)
{
	const struct diff_report *r = p->report;

	if (r->before.removed == 0 && r->after.removed == 0)
		return;
	strbuf_add_text(p->out, "  Rules have removed ");
	add_number(p, r->before.removed, 0);
	strbuf_add_text(p->out, " before and ");
	add_number(p, r->after.removed, 0);
	strbuf_add_text(p->out, " after (--transform).\n");
}

static void add_notes(const struct page *p)
{
	const struct profile_diff_options *options = p->report->options;

	strbuf_addf(p->out, "  Numbers are %s. ", profile_metrics[options->metric].what);
	if (options->depth == 0)
		strbuf_add_text(p->out, "Stacks are equal if all their functions are.\n");
	else if (options->depth == 1)
		strbuf_add_text(p->out,
				"Stacks are equal if their innermost functions are.\n");
	else
		strbuf_addf(p->out,
			    "Stacks are equal if their %zu innermost functions are.\n",
			    options->depth);
	if (p->report->diff->sums[DIFF_LEFT_OUT].stack_count > 0) {
		strbuf_add_text(p->out, "  Stacks are left out that have at most ");
		add_number(p, options->minimum, 0);
		strbuf_add_text(p->out, " in both (--min).\n");
	}
	add_removed(p);
}

/* Append the change of a stack, followed by the functions of the stack, one per line. */
static void add_stack(const struct page *p, const struct profile_diff_stack *stack)
{
	const char **names;
	size_t count = profile_diff_functions(p->report->diff, stack, &names);

	strbuf_add_char(p->out, '\n');
	add_change(p, stack->before, stack->after, 14);
	strbuf_add_text(p->out, "  ");
	if (stack->kind == DIFF_CHANGED) {
		add_number(p, stack->before, 0);
		strbuf_add_text(p->out, " before, ");
		add_number(p, stack->after, 0);
		strbuf_add_text(p->out, " after\n");
	}
	for (size_t i = 0; i < count; i++) {
		if (i > 0 || stack->kind == DIFF_CHANGED)
			strbuf_add_repeat(p->out, " ", 16);
		add_printable(p, names[i]);
		strbuf_add_char(p->out, '\n');
	}
	if (count == 0)
		strbuf_add_text(p->out, "(without a stack)\n");
	if (stack->has_more_callers)
		strbuf_addf(p->out, "%16s...\n", "");
	free(names);
}

static void add_list(const struct page *p, enum profile_diff_kind kind, const char *title)
{
	const struct profile_diff *diff = p->report->diff;
	size_t shown = 0, count = (size_t)diff->sums[kind].stack_count;

	if (count == 0)
		return;
	strbuf_addf(p->out, "\n%s:\n", title);
	for (size_t i = 0; i < diff->stack_count && shown < p->report->top; i++)
		if (diff->stacks[i].kind == kind) {
			add_stack(p, &diff->stacks[i]);
			shown++;
		}
	if (shown < count)
		strbuf_addf(p->out, "\nand %zu more (--top N)\n", count - shown);
}

void diff_report_add_text(struct strbuf *out, const struct diff_report *report)
{
	_cleanup_conclusion_ struct conclusion conclusion = CONCLUSION_INIT;
	const struct page page = { out, report };

	diff_conclude(&conclusion, report->diff, report->options->metric,
		      report->after.file);
	conclusion_add_opening(out, &conclusion, &report->table);
	strbuf_add_char(out, '\n');
	add_side(&page, "before", &report->before);
	add_side(&page, "after", &report->after);
	add_sums(&page);
	add_notes(&page);
	add_list(&page, DIFF_ONLY_BEFORE, "Only before");
	add_list(&page, DIFF_ONLY_AFTER, "Only after");
	add_list(&page, DIFF_CHANGED, "Changed");
	conclusion_add_next(out, &conclusion);
}

/* The functions below write the report as CSV. */

void diff_report_add_csv(struct strbuf *out, const struct diff_report *report)
{
	_cleanup_strbuf_ struct strbuf functions = STRBUF_INIT;
	struct column_list columns = COLUMN_LIST_INIT;

	column_list_all(&diff_columns, &columns);
	if (!report->table.no_headings)
		csv_add_header(out, &columns);
	for (size_t i = 0; i < report->diff->stack_count; i++) {
		const struct profile_diff_stack *stack = &report->diff->stacks[i];
		struct diff_row row = { .report = report, .stack = stack };
		const char **names;
		size_t count = profile_diff_functions(report->diff, stack, &names);

		strbuf_clear(&functions);
		for (size_t k = 0; k < count; k++)
			strbuf_addf(&functions, "%s%s", k > 0 ? ";" : "", names[k]);
		row.functions = strbuf_text(&functions);
		csv_add_row(out, &columns, &row);
		free(names);
	}
	column_list_release(&columns);
}

/* The functions below write the report as JSON. */

static void add_json_side(struct json *j, const char *key, const struct diff_side *side)
{
	const struct profile *profile = side->profile;
	bool is_sampled = profile->sample_bytes > 0;
	char time[CLOCK_TEXT_SIZE];

	json_begin_object(j, key);
	json_add_string(j, "file", side->file);
	json_add_string(j, "command", profile->command);
	json_add_string(j, "time",
			profile->unix_ms ? clock_format_utc(profile->unix_ms, time)
					 : NULL);
	json_add_number(j, "taken_out", side->removed);
	json_add_amount(j, "sample_bytes",
			is_sampled ? profile->sample_bytes : BYTES_UNKNOWN);
	json_add_amount(j, "samples", is_sampled ? profile->sample_count : BYTES_UNKNOWN);
	json_end_object(j);
}

static void add_json_sum(struct json *j, const char *key,
			 const struct profile_diff_sum *sum)
{
	json_begin_object(j, key);
	json_add_number(j, "stacks", sum->stack_count);
	json_add_number(j, "before", sum->before);
	json_add_number(j, "after", sum->after);
	json_add_signed(j, "change", (int64_t)(sum->after - sum->before));
	json_end_object(j);
}

static void add_json_sums(struct json *j, const struct profile_diff *diff)
{
	json_begin_object(j, "sums");
	for (int k = 0; k < DIFF_KIND_COUNT_; k++)
		add_json_sum(j, profile_diff_kind_names[k], &diff->sums[k]);
	add_json_sum(j, "all", &diff->total);
	json_end_object(j);
}

static void add_json_stack(struct json *j, const struct diff_report *report,
			   const struct profile_diff_stack *stack,
			   const struct column_list *columns)
{
	const struct diff_row row = { .report = report, .stack = stack };
	const char **names;
	size_t count = profile_diff_functions(report->diff, stack, &names);

	json_begin_object(j, NULL);
	json_add_members(j, columns, &row);
	json_begin_array(j, "functions");
	for (size_t k = 0; k < count; k++)
		json_add_string(j, NULL, names[k]);
	json_end_array(j);
	json_end_object(j);
	free(names);
}

static void add_json_stacks(struct json *j, const struct diff_report *report)
{
	struct column_list columns = COLUMN_LIST_INIT;
	char *bad;

	json_begin_array(j, "stacks");
	/* the default list of columns is always valid, because unit tests check it */
	if (column_list_parse(&diff_columns, NULL, diff_columns.table_default, &columns,
			      &bad) == 0)
		for (size_t i = 0; i < report->diff->stack_count; i++)
			add_json_stack(j, report, &report->diff->stacks[i], &columns);
	json_end_array(j);
	column_list_release(&columns);
}

void diff_report_add_json(struct strbuf *out, const struct diff_report *report)
{
	struct json j = json_begin_report(out, "diff");

	json_add_string(&j, "metric", profile_metrics[report->options->metric].name);
	json_add_number(&j, "depth", report->options->depth);
	json_add_number(&j, "min", report->options->minimum);
	add_json_side(&j, "before", &report->before);
	add_json_side(&j, "after", &report->after);
	add_json_sums(&j, report->diff);
	add_json_stacks(&j, report);
	json_end_report(&j);
}
