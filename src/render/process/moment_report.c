/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/process/moment_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "classify/compare/moment_conclusion.h"
#include "render/table/conclusion.h"
#include "render/table/style.h"

/* The functions below write the report as text. */

struct page {
	struct strbuf *out;
	const struct moment_report *report;
};

static void add_printable(const struct page *p, const char *text)
{
	text_add_printable(p->out, text, strlen(text), p->report->table.ascii);
}

static void add_bytes(const struct page *p, uint64_t bytes, int width)
{
	char buf[UNITS_TEXT_SIZE];

	if (p->report->table.exact_bytes && bytes_known(bytes))
		strbuf_addf(p->out, "%*" PRIu64, width, bytes);
	else
		strbuf_addf(p->out, "%*s", width, units_format_bytes(bytes, buf));
}

static void add_change(const struct page *p, const struct moment_change *change,
		       int width)
{
	int64_t bytes = moment_change_bytes(change);
	char buf[UNITS_TEXT_SIZE];

	if (!bytes_known(change->before) && !bytes_known(change->after))
		strbuf_addf(p->out, "%*s", width, "-");
	else if (p->report->table.exact_bytes)
		strbuf_addf(p->out, bytes ? "%+*" PRId64 : "%*" PRId64, width, bytes);
	else
		strbuf_addf(p->out, "%*s", width, units_format_change(bytes, buf));
}

static void add_side(const struct page *p, const char *label,
		     const struct moment_side *side)
{
	const struct moment *moment = side->moment;
	char time[CLOCK_TEXT_SIZE];

	strbuf_addf(p->out, "%-7s ", label);
	add_printable(p, side->name);
	strbuf_addf(p->out, ", %s, %zu process%s",
		    clock_format_utc(moment->unix_ms, time), moment->processes.count,
		    moment->processes.count == 1 ? "" : "es");
	if (moment->processes.unreadable_count > 0)
		strbuf_addf(p->out, ", of which %zu could not be read",
			    moment->processes.unreadable_count);
}

/*
 * If all processes had ended by the end of the recording, append a note that the report
 * shows the last sample before that.
 */
static void add_ended(const struct page *p, const struct moment_side *side)
{
	char time[CLOCK_TEXT_SIZE];

	if (side->ended_unix_ms > 0)
		strbuf_addf(p->out,
			    "        the last sample: %s processes had ended by %s\n",
			    p->report->is_selection ? "the selected" : "all",
			    clock_format_utc(side->ended_unix_ms, time));
}

static void add_sides(const struct page *p)
{
	const struct moment_report *r = p->report;
	uint64_t from = r->before.moment->unix_ms, to = r->after.moment->unix_ms;
	char buf[UNITS_TEXT_SIZE];

	add_side(p, "before", &r->before);
	strbuf_add_char(p->out, '\n');
	add_ended(p, &r->before);
	add_side(p, "after", &r->after);
	if (from != to)
		strbuf_addf(p->out, ", %s %s",
			    units_format_duration(
				    (to > from ? to - from : from - to) * NS_PER_MS, buf),
			    to > from ? "later" : "earlier");
	strbuf_add_char(p->out, '\n');
	add_ended(p, &r->after);
}

/* Return the age of the oldest mapping data in *moment at moment->unix_ms, in ms. */
static uint64_t mappings_age_ms(const struct moment *moment)
{
	uint64_t age = 0;

	for (size_t i = 0; i < moment->processes.count; i++) {
		uint64_t read = moment->mappings[i].read_unix_ms;

		if (read > 0 && read < moment->unix_ms && moment->unix_ms - read > age)
			age = moment->unix_ms - read;
	}
	return age;
}

/*
 * Append a note such as ", from the last read of mappings, up to 1.2s earlier" if some of
 * the compared mappings were read before the compared samples.
 */
static void add_age(const struct page *p)
{
	uint64_t before = mappings_age_ms(p->report->before.moment);
	uint64_t after = mappings_age_ms(p->report->after.moment);
	uint64_t age = before > after ? before : after;
	char buf[UNITS_TEXT_SIZE];

	if (age > 0)
		strbuf_addf(p->out, ", from the last read of mappings, up to %s earlier",
			    units_format_duration(age * NS_PER_MS, buf));
}

static bool is_part(const struct page *p, size_t i, enum moment_part part)
{
	return p->report->diff->items[i].part == part;
}

static size_t count_part(const struct page *p, enum moment_part part)
{
	size_t count = 0;

	for (size_t i = 0; i < p->report->diff->count; i++)
		count += is_part(p, i, part);
	return count;
}

/*
 * Return true if the report shows a figure. The report omits a figure that is unknown
 * both before and after, and the amount of an owner or page state that is 0 both before
 * and after.
 */
static bool is_shown(const struct moment_change *change)
{
	if (!bytes_known(change->before) && !bytes_known(change->after))
		return false;
	return change->before != 0 || change->after != 0 ||
	       (change->part != PART_STATE && change->part != PART_OWNER);
}

/* Append a line for each figure, with its values before and after. */
static void add_figures(const struct page *p, enum moment_part part)
{
	for (size_t i = 0; i < p->report->diff->count; i++) {
		const struct moment_change *change = &p->report->diff->items[i];

		if (!is_part(p, i, part) || !is_shown(change))
			continue;
		strbuf_addf(p->out, "  %-16s ", change->name);
		add_bytes(p, change->before, 14);
		strbuf_add_char(p->out, ' ');
		add_bytes(p, change->after, 14);
		strbuf_add_char(p->out, ' ');
		add_change(p, change, 14);
		strbuf_add_char(p->out, '\n');
	}
}

static void add_group(const struct page *p)
{
	const char *path = p->report->after.moment->group_path;

	if (count_part(p, PART_GROUP) == 0)
		return;
	strbuf_add_text(p->out, "\nOf the group ");
	add_printable(p, path ? path : "");
	strbuf_add_text(p->out, ":\n");
	add_figures(p, PART_GROUP);
}

/*
 * Append the pids of the process before and after, such as "1234", "1234, before 77",
 * "1234, new" or "77, gone".
 */
static void add_pids(const struct page *p, const struct moment_change *change)
{
	const struct process *b = change->before_process, *a = change->after_process;

	if (!a)
		strbuf_addf(p->out, "%d, gone", b->pid);
	else if (!b)
		strbuf_addf(p->out, "%d, new", a->pid);
	else if (!process_is_same(a, b))
		strbuf_addf(p->out, "%d, before %d", a->pid, b->pid);
	else
		strbuf_addf(p->out, "%d", a->pid);
}

static void add_row_of_list(const struct page *p, const struct moment_change *change)
{
	const struct process *process = change->after_process ? change->after_process
							      : change->before_process;

	add_change(p, change, 14);
	strbuf_add_char(p->out, ' ');
	add_bytes(p, change->before, 14);
	strbuf_add_char(p->out, ' ');
	add_bytes(p, change->after, 14);
	strbuf_add_text(p->out, "  ");
	if (change->part == PART_HEAP)
		strbuf_addf(p->out, "%-14s %s of ", owner_names[change->owner],
			    change->name);
	if (change->part == PART_MAPPING) {
		strbuf_addf(p->out, "%-6s ", owner_names[change->owner]);
		if (change->start_addr)
			strbuf_addf(p->out, "%" PRIx64, change->start_addr);
		else
			add_printable(p, change->name);
		strbuf_add_text(p->out, " of ");
	}
	add_printable(p, process->comm);
	strbuf_add_text(p->out, " (");
	add_pids(p, change);
	strbuf_add_text(p->out, ")\n");
}

/*
 * Append the rows of one list. The text report omits rows without a change; CSV and JSON
 * include them.
 */
static void add_list(const struct page *p, enum moment_part part)
{
	const struct moment_diff *diff = p->report->diff;
	size_t shown = 0, count = 0;

	for (size_t i = 0; i < diff->count; i++) {
		if (!is_part(p, i, part) || moment_change_bytes(&diff->items[i]) == 0)
			continue;
		if (count++ < p->report->top) {
			add_row_of_list(p, &diff->items[i]);
			shown++;
		}
	}
	if (count == 0)
		strbuf_add_text(p->out, "             0  nothing has changed\n");
	else if (shown < count)
		strbuf_addf(p->out, "and %zu more (--top N)\n", count - shown);
}

void moment_report_add_text(struct strbuf *out, const struct moment_report *report)
{
	_cleanup_conclusion_ struct conclusion conclusion = CONCLUSION_INIT;
	const struct page page = { out, report };
	bool colour = report->table.colour;
	size_t begin;

	moment_conclude(&conclusion, report->diff, &report->after_place);
	if (conclusion.next.length == 0 && report->next)
		conclusion_set_next(&conclusion, "%s", report->next);
	conclusion_add_opening(out, &conclusion, &report->table);
	strbuf_add_char(out, '\n');
	add_sides(&page);
	begin = out->length;
	strbuf_addf(out, "\n  %-16s %14s %14s %14s\n", "", "BEFORE", "AFTER", "CHANGE");
	style_mark_line(out, begin, STYLE_HEADING, colour);
	add_figures(&page, PART_TOTAL);
	strbuf_add_text(out, "\nRss by state:\n");
	add_figures(&page, PART_STATE);
	strbuf_add_text(out, "\nRss by owner");
	add_age(&page);
	strbuf_add_text(out, ":\n");
	add_figures(&page, PART_OWNER);
	add_group(&page);
	begin = out->length;
	strbuf_addf(out, "\n%14s %14s %14s  Processes, Rss\n", "CHANGE", "BEFORE",
		    "AFTER");
	style_mark_line(out, begin, STYLE_HEADING, colour);
	add_list(&page, PART_PROCESS);
	if (count_part(&page, PART_HEAP) > 0) {
		begin = out->length;
		strbuf_addf(out, "\n%14s %14s %14s  Heaps, Rss", "CHANGE", "BEFORE",
			    "AFTER");
		add_age(&page);
		strbuf_add_char(out, '\n');
		style_mark_line(out, begin, STYLE_HEADING, colour);
		add_list(&page, PART_HEAP);
	}
	begin = out->length;
	strbuf_addf(out, "\n%14s %14s %14s  Mappings, Rss", "CHANGE", "BEFORE", "AFTER");
	add_age(&page);
	strbuf_add_char(out, '\n');
	style_mark_line(out, begin, STYLE_HEADING, colour);
	add_list(&page, PART_MAPPING);
	conclusion_add_next(out, &conclusion);
}

/* The functions below write the report as CSV. */

void moment_report_add_csv(struct strbuf *out, const struct moment_report *report)
{
	struct column_list columns = COLUMN_LIST_INIT;

	column_list_all(&moment_columns, &columns);
	if (!report->table.no_headings)
		csv_add_header(out, &columns);
	for (size_t i = 0; i < report->diff->count; i++)
		csv_add_row(out, &columns, &report->diff->items[i]);
	column_list_release(&columns);
}

/* The functions below write the report as JSON. */

static void add_json_side(struct json *j, const char *key, const struct moment_side *side)
{
	const struct moment *moment = side->moment;
	char time[CLOCK_TEXT_SIZE];

	json_begin_object(j, key);
	json_add_string(j, "file", side->name);
	json_add_string(j, "time", clock_format_utc(moment->unix_ms, time));
	json_add_number(j, "processes", moment->processes.count);
	json_add_number(j, "unreadable", moment->processes.unreadable_count);
	json_add_seconds_ms(j, "mappings_age_s", mappings_age_ms(moment) * NS_PER_MS);
	json_add_string(j, "group", moment->group_path);
	json_end_object(j);
}

void moment_report_add_json(struct strbuf *out, const struct moment_report *report)
{
	struct column_list columns = COLUMN_LIST_INIT;
	struct json j = json_begin_report(out, "moments");

	column_list_all(&moment_columns, &columns);
	add_json_side(&j, "before", &report->before);
	add_json_side(&j, "after", &report->after);
	json_begin_array(&j, "changes");
	for (size_t i = 0; i < report->diff->count; i++)
		json_add_row(&j, NULL, &columns, &report->diff->items[i]);
	json_end_array(&j);
	json_end_report(&j);
	column_list_release(&columns);
}
