/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/heap/leak_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "render/heap/pre_copy.h"
#include "render/table/conclusion.h"
#include "render/table/output.h"
#include "render/table/style.h"

/* Maximum number of example blocks in the report. Each example takes three lines. */
#define PEEKS_SHOWN 8

#define PEEK_LINE_BYTES 16
/*
 * Width of a hex dump line with PEEK_LINE_BYTES bytes. On a narrower terminal, a line has
 * half as many bytes.
 */
#define PEEK_LINE_WIDTH 83

static uint64_t peek_length(struct image *image, uint64_t addr, uint64_t bytes)
{
	const struct image_run *run = image_run_at(image, addr);

	if (!run)
		return 0;
	return bytes < run->end_addr - addr ? bytes : run->end_addr - addr;
}

/*
 * Append a hex dump of the memory from addr on: lines with the address, the bytes and the
 * ASCII characters. Leave out bytes that are missing from `image`, the copy of the
 * process's memory.
 */
static void leak_report_add_peek(struct strbuf *out, struct image *image, uint64_t addr,
				 uint64_t bytes, int width)
{
	uint64_t length = peek_length(image, addr, bytes);
	const uint8_t *at = image_at(image, addr, length);
	uint64_t line_bytes = width > 0 && width < PEEK_LINE_WIDTH ? PEEK_LINE_BYTES / 2
								   : PEEK_LINE_BYTES;

	for (uint64_t line = 0; at && line < length; line += line_bytes) {
		uint64_t count = length - line < line_bytes ? length - line : line_bytes;

		strbuf_addf(out, "  %12" PRIx64 " ", addr + line);
		for (uint64_t i = 0; i < line_bytes; i++) {
			if (i < count)
				strbuf_addf(out, " %02x", at[line + i]);
			else
				strbuf_add_text(out, "   ");
		}
		strbuf_add_text(out, "  |");
		for (uint64_t i = 0; i < count; i++) {
			uint8_t c = at[line + i];

			strbuf_add_char(out, c >= ' ' && c <= '~' ? (char)c : '.');
		}
		strbuf_add_text(out, "|\n");
	}
}

static void fill_row(const struct leak_report *r, const struct block_group *group,
		     struct leak_row *row)
{
	uint64_t addr = group->examples[0];
	uint64_t length = peek_length(r->image, addr,
				      group->block_bytes < LEAK_PEEK_BYTES
					      ? group->block_bytes
					      : LEAK_PEEK_BYTES);
	const uint8_t *at = image_at(r->image, addr, length);

	row->group = group;
	row->peek[0] = '\0';
	for (uint64_t i = 0; at && i < length; i++) {
		static const char digits[] = "0123456789abcdef";

		row->peek[2 * i] = digits[at[i] >> 4];
		row->peek[2 * i + 1] = digits[at[i] & 15];
		row->peek[2 * i + 2] = '\0';
	}
}

/* The functions below write the report as text. */

struct page {
	struct strbuf *out;
	const struct leak_report *report;
};

static void add_bytes(const struct page *p, uint64_t bytes, int width)
{
	char buf[UNITS_TEXT_SIZE];

	if (p->report->exact_bytes && bytes_known(bytes))
		strbuf_addf(p->out, "%*" PRIu64, width, bytes);
	else
		strbuf_addf(p->out, "%*s", width, units_format_bytes(bytes, buf));
}

static void add_head(const struct page *p)
{
	const struct leak_report *r = p->report;
	const struct leak_scan *scan = r->scan;
	char mark[UNITS_TEXT_SIZE];

	strbuf_addf(p->out, "%d ", r->usage->process.pid);
	text_add_printable(p->out, r->usage->process.comm, strlen(r->usage->process.comm),
			   false);
	strbuf_addf(p->out, ": %s, ", allocator_titles[scan->heap->allocator]);
	pre_copy_add_text(p->out, scan->heap, p->report->exact_bytes);
	strbuf_add_text(p->out, "; ");
	add_bytes(p, scan->mark.scanned_bytes, 0);
	strbuf_addf(p->out, " searched for pointers in %s.\n",
		    units_format_duration(scan->mark_ns, mark));
	pre_copy_add_split(p->out, scan->heap);
}

static void add_conclusion(const struct page *p)
{
	const struct leak_scan *scan = p->report->scan;
	const struct table_options options = { .max_width = p->report->width };

	conclusion_add_opening(p->out, p->report->conclusion, &options);
	if (scan->quality == QUALITY_BOUND) {
		strbuf_add_text(p->out, "The leaked amounts are upper bounds: ");
		add_bytes(p, scan->swapped_bytes, 0);
		strbuf_addf(p->out, " not examined: %s.\n", scan->problem);
	}
}

static void add_sum(const struct page *p, const char *label, const struct chunk_sum *sum,
		    uint64_t resident_bytes)
{
	int width = p->report->exact_bytes ? 14 : 8;

	strbuf_addf(p->out, "  %-24s %12" PRIu64 " ", label, sum->count);
	add_bytes(p, sum->bytes, width);
	if (bytes_known(resident_bytes)) {
		strbuf_add_char(p->out, ' ');
		add_bytes(p, resident_bytes, width);
	}
	strbuf_add_char(p->out, '\n');
}

static void add_leaked_sum(const struct page *p, const char *label,
			   const struct chunk_sum *sum, uint64_t resident_bytes)
{
	size_t begin = p->out->length;

	add_sum(p, label, sum, resident_bytes);
	style_mark_line(p->out, begin, STYLE_PROBLEM, p->report->colour);
}

static void add_sums(const struct page *p)
{
	const struct leak_scan *scan = p->report->scan;
	const struct mark *mark = &scan->mark;
	struct chunk_sum leaked = { mark->direct.count + mark->indirect.count,
				    mark->direct.bytes + mark->indirect.bytes };
	int width = p->report->exact_bytes ? 14 : 8;
	size_t begin = p->out->length;

	strbuf_addf(p->out, "\n  %-24s %12s %*s %*s\n", "", "BLOCKS", width, "USABLE",
		    width, "RESIDENT");
	style_mark_line(p->out, begin, STYLE_HEADING, p->report->colour);
	add_sum(p, "live", &mark->live, scan->heap->owner_bytes[OWNER_LIVE]);
	/* without leaks, all live blocks are reachable, so one line is enough */
	if (leaked.count > 0) {
		add_sum(p, "  reachable", &mark->reachable,
			scan->reachable_resident_bytes);
		add_leaked_sum(p, "  leaked", &leaked, scan->leaked_resident_bytes);
		add_leaked_sum(p, "    direct", &mark->direct, BYTES_UNKNOWN);
		add_leaked_sum(p, "    indirect", &mark->indirect, BYTES_UNKNOWN);
	}
	if (scan->heap->allocator == ALLOCATOR_GLIBC)
		strbuf_add_text(
			p->out,
			"  RESIDENT includes the size field that malloc keeps for each block.\n");
}

static void add_table(const struct page *p, const struct block_groups *groups,
		      bool is_leaked)
{
	const struct table_options options = { .exact_bytes = p->report->exact_bytes,
					       .colour = p->report->colour };
	size_t shown = groups->count < p->report->top ? groups->count : p->report->top;
	struct leak_row *rows = xcalloc(shown, sizeof(*rows));
	const void **pointers = xcalloc(shown, sizeof(*pointers));
	struct column_list columns = COLUMN_LIST_INIT;
	char *name;

	for (size_t i = 0; i < shown; i++) {
		fill_row(p->report, &groups->items[i], &rows[i]);
		rows[i].is_leaked = is_leaked;
		pointers[i] = &rows[i];
	}
	if (column_list_parse(&leak_columns, NULL, leak_columns.table_default, &columns,
			      &name) == 0)
		table_add(p->out, &columns, pointers, shown, &options);
	if (shown < groups->count)
		strbuf_addf(p->out, "and %zu more (--top N)\n", groups->count - shown);
	column_list_release(&columns);
	free(pointers);
	free(rows);
}

/* Append the first bytes of the example blocks, in the order of the table of leaks. */
static void add_peeks(const struct page *p)
{
	const struct block_groups *groups = &p->report->scan->leaked;

	strbuf_add_text(p->out, "\nThe first bytes of the examples:\n");
	for (size_t i = 0; i < groups->count && i < PEEKS_SHOWN && i < p->report->top;
	     i++) {
		const struct block_group *g = &groups->items[i];

		strbuf_addf(p->out, "  %" PRIu64 " bytes each, %s", g->block_bytes,
			    content_names[g->content]);
		if (g->type) {
			strbuf_add_text(p->out, ", ");
			text_add_printable(p->out, g->type, strlen(g->type), false);
		}
		strbuf_add_char(p->out, '\n');
		leak_report_add_peek(p->out, p->report->image, g->examples[0],
				     g->block_bytes < LEAK_PEEK_BYTES ? g->block_bytes
								      : LEAK_PEEK_BYTES,
				     p->report->width);
	}
}

static void add_fresh(const struct page *p)
{
	const struct block_groups *fresh = p->report->fresh;
	struct chunk_sum sum = { 0, 0 };
	char time[CLOCK_TEXT_SIZE];

	clock_format_utc(p->report->since_unix_ms, time);
	if (fresh->count == 0) {
		strbuf_addf(p->out, "\nNo reachable block is new since %s.\n", time);
		return;
	}
	for (size_t i = 0; i < fresh->count; i++) {
		sum.count += fresh->items[i].sum.count;
		sum.bytes += fresh->items[i].sum.bytes;
	}
	strbuf_addf(p->out, "\nNew since %s, and reachable: %" PRIu64 " block%s, ", time,
		    sum.count, sum.count == 1 ? "" : "s");
	add_bytes(p, sum.bytes, 0);
	strbuf_add_text(p->out, "\n");
	add_table(p, fresh, false);
}

void leak_report_add_text(struct strbuf *out, const struct leak_report *report)
{
	const struct page page = { out, report };

	add_head(&page);
	add_conclusion(&page);
	add_sums(&page);
	if (report->scan->leaked.count > 0) {
		strbuf_add_text(out, "\nLeaked blocks, and blocks reachable only from "
				     "them (INDIRECT):\n");
		add_table(&page, &report->scan->leaked, true);
		add_peeks(&page);
	}
	if (report->fresh)
		add_fresh(&page);
}

/* The functions below write the report as CSV. */

static void add_csv_rows(struct strbuf *out, const struct leak_report *r,
			 const struct column_list *columns,
			 const struct block_groups *groups, bool is_leaked)
{
	for (size_t i = 0; i < groups->count; i++) {
		struct leak_row row = { .is_leaked = is_leaked };

		fill_row(r, &groups->items[i], &row);
		csv_add_row(out, columns, &row);
	}
}

void leak_report_add_csv(struct strbuf *out, const struct leak_report *report)
{
	struct column_list columns = COLUMN_LIST_INIT;

	column_list_all(&leak_columns, &columns);
	csv_add_header(out, &columns);
	add_csv_rows(out, report, &columns, &report->scan->leaked, true);
	if (report->fresh)
		add_csv_rows(out, report, &columns, report->fresh, false);
	column_list_release(&columns);
}

/* The functions below write the report as JSON. */

static void add_json_sum(struct json *j, const char *name, const struct chunk_sum *sum)
{
	char key[32];

	snprintf(key, sizeof(key), "%s_count", name);
	json_add_number(j, key, sum->count);
	snprintf(key, sizeof(key), "%s_bytes", name);
	json_add_number(j, key, sum->bytes);
}

static void add_json_groups(struct json *j, const char *key, const struct leak_report *r,
			    const struct block_groups *groups, bool is_leaked)
{
	struct column_list columns = COLUMN_LIST_INIT;

	column_list_all(&leak_columns, &columns);
	json_begin_array(j, key);
	for (size_t i = 0; i < groups->count; i++) {
		const struct block_group *g = &groups->items[i];
		struct leak_row row = { .is_leaked = is_leaked };

		fill_row(r, g, &row);
		json_begin_object(j, NULL);
		json_add_members(j, &columns, &row);
		json_begin_array(j, "examples");
		for (size_t k = 0; k < g->example_count; k++)
			json_add_address(j, NULL, g->examples[k]);
		json_end_array(j);
		json_end_object(j);
	}
	json_end_array(j);
	column_list_release(&columns);
}

void leak_report_add_json(struct strbuf *out, const struct leak_report *report)
{
	const struct leak_scan *scan = report->scan;
	struct json j = json_begin_report(out, "leaks");
	char time[CLOCK_TEXT_SIZE];

	json_add_signed(&j, "pid", report->usage->process.pid);
	json_add_string(&j, "comm", report->usage->process.comm);
	json_add_string(&j, "allocator", allocator_names[scan->heap->allocator]);
	json_add_string(&j, "leak_quality", quality_names[scan->quality]);
	json_add_string(&j, "problem", scan->problem);
	json_add_seconds_us(&j, "pause_s", scan->heap->pause_ns);
	json_add_seconds_us(&j, "mark_s", scan->mark_ns);
	json_add_amount(&j, "copied_bytes", scan->heap->copied_bytes);
	pre_copy_add_json(&j, scan->heap);
	json_add_amount(&j, "scanned_bytes", scan->mark.scanned_bytes);
	json_add_amount(&j, "swapped_bytes", scan->swapped_bytes);
	add_json_sum(&j, "live", &scan->mark.live);
	add_json_sum(&j, "reachable", &scan->mark.reachable);
	add_json_sum(&j, "direct", &scan->mark.direct);
	add_json_sum(&j, "indirect", &scan->mark.indirect);
	json_add_amount(&j, "live_resident_bytes", scan->heap->owner_bytes[OWNER_LIVE]);
	json_add_amount(&j, "reachable_resident_bytes", scan->reachable_resident_bytes);
	json_add_amount(&j, "leaked_resident_bytes", scan->leaked_resident_bytes);
	add_json_groups(&j, "leaked", report, &scan->leaked, true);
	if (report->fresh) {
		json_add_string(&j, "since",
				clock_format_utc(report->since_unix_ms, time));
		add_json_groups(&j, "new", report, report->fresh, false);
	}
	json_end_report(&j);
}
