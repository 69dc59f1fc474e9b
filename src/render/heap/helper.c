/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/heap/page.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "classify/process/classify_stats.h"
#include "render/table/output.h"
#include "render/table/style.h"

#define NAME_WIDTH 34
#define KEY_SIZE 48

/* Append how memstate queried the allocator, and the duration of the resulting pause. */
static void add_origin(const struct heap_page *p, const struct helper_answer *answer)
{
	char cost[UNITS_TEXT_SIZE], stopped[UNITS_TEXT_SIZE];

	strbuf_addf(p->out,
		    "\n  A helper inside the process queried the allocator in %s.\n",
		    units_format_duration(answer->stats.cost_ns, cost));
	if (answer->was_injected)
		strbuf_addf(
			p->out,
			"  To inject it, memstate stopped one thread %u time%s, for %s "
			"in total.\n",
			answer->stop_count, answer->stop_count == 1 ? "" : "s",
			units_format_duration(answer->stopped_ns, stopped));
}

/*
 * For each kind of heap memory, such as live blocks, append the number of bytes that the
 * allocator reports, and the lower and upper bound on how many of them are resident.
 */
static void add_bounds(const struct heap_page *p, const struct heap_bounds *bounds)
{
	static const char *const labels[] = {
		[OWNER_LIVE] = "live: in use",
		[OWNER_POOL_PAGES] = "pool_pages: free, whole pages",
		[OWNER_POOL_FRAGMENTS] = "pool_fragments: free, elsewhere",
		[OWNER_HEAP_META] = "heap_meta: its own data",
	};
	bool is_one_sum = !bytes_known(bounds->reported_bytes[OWNER_POOL_FRAGMENTS]);
	int width = heap_page_bytes_width(p) + 1;
	size_t begin = p->out->length;

	strbuf_addf(p->out, "\n  %-*s %*s %*s %*s\n", NAME_WIDTH, "RESIDENT, as reported",
		    width, "REPORTED", width, "AT LEAST", width, "AT MOST");
	heap_page_mark_heading(p, begin);
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++) {
		begin = p->out->length;
		strbuf_addf(p->out, "  %-*s ", NAME_WIDTH,
			    o == OWNER_LIVE && is_one_sum ? "live: in use, or free"
							  : labels[o]);
		heap_page_add_bytes(p, bounds->reported_bytes[o], width);
		strbuf_add_char(p->out, ' ');
		heap_page_add_bytes(p, bounds->min_bytes[o], width);
		strbuf_add_char(p->out, ' ');
		heap_page_add_bytes(p, bounds->max_bytes[o], width);
		strbuf_add_char(p->out, '\n');
		if (o == OWNER_POOL_PAGES)
			style_mark_line(p->out, begin, STYLE_RECLAIMABLE,
					p->options->colour);
	}
	strbuf_add_text(p->out, "  of ");
	heap_page_add_bytes(p, bounds->resident_bytes, 0);
	strbuf_add_text(p->out, " resident that may be its memory, in addition to ");
	heap_page_add_bytes(p, bounds->missing_bytes, 0);
	strbuf_add_text(p->out, " without a page\n");
}

static void add_amount(const struct heap_page *p, uint64_t amount, bool is_count,
		       int width)
{
	strbuf_add_char(p->out, ' ');
	if (is_count && bytes_known(amount))
		strbuf_addf(p->out, "%*" PRIu64, width, amount);
	else
		heap_page_add_bytes(p, amount, width);
}

static void add_value(const struct heap_page *p, const struct allocator_value *value)
{
	uint64_t walked =
		classify_stats_walked(&p->options->answer->stats, p->heap, value->name);
	int width = heap_page_bytes_width(p) + 1;

	strbuf_addf(p->out, "  %-*s", NAME_WIDTH, value->name);
	add_amount(p, value->value, value->is_count, width);
	if (bytes_known(walked)) {
		add_amount(p, walked, value->is_count, width);
		add_amount(p,
			   value->value > walked ? value->value - walked
						 : walked - value->value,
			   value->is_count, width);
	}
	strbuf_add_char(p->out, '\n');
}

static void add_values(const struct heap_page *p, const struct helper_answer *answer)
{
	struct stats_pair pairs[STATS_PAIR_MAX];
	bool is_walked = classify_stats_compare(&answer->stats, p->heap, pairs) > 0;
	int width = heap_page_bytes_width(p) + 1;
	size_t begin = p->out->length;

	strbuf_addf(p->out, "\n  %-*s %*s", NAME_WIDTH, "REPORTED BY THE ALLOCATOR",
		    width, "REPORTED");
	if (is_walked)
		strbuf_addf(p->out, " %*s %*s", width, "WALKED", width, "DIFF");
	strbuf_add_char(p->out, '\n');
	heap_page_mark_heading(p, begin);
	for (size_t i = 0; i < answer->stats.value_count; i++)
		add_value(p, &answer->stats.values[i]);
}

/* Append text from outside memstate. Escape the unprintable characters in each line. */
static void add_text(struct strbuf *out, const char *text)
{
	for (const char *line = text; line && *line; line += *line == '\n') {
		size_t length = strcspn(line, "\n");

		text_add_printable(out, line, length, false);
		strbuf_add_char(out, '\n');
		line += length;
	}
}

void heap_helper_add_text(const struct heap_page *p)
{
	const struct helper_answer *answer = p->options->answer;

	if (!answer || !helper_answer_is_known(answer))
		return;
	add_origin(p, answer);
	if (p->heap->is_reported)
		add_bounds(p, &answer->bounds);
	add_values(p, answer);
	if (answer->stats.text)
		strbuf_add_char(p->out, '\n');
	add_text(p->out, answer->stats.text);
}

/* The functions below write the allocator's figures as JSON. */

static void add_json_bounds(struct json *j, const struct heap_bounds *bounds)
{
	static const char *const kinds[] = { "said", "at_least", "at_most" };
	const uint64_t *const amounts[] = {
		bounds->reported_bytes,
		bounds->min_bytes,
		bounds->max_bytes,
	};
	char key[KEY_SIZE];

	json_add_amount(j, "resident_bytes", bounds->resident_bytes);
	json_add_amount(j, "missing_bytes", bounds->missing_bytes);
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			snprintf(key, sizeof(key), "%s_%s_bytes", owner_names[o],
				 kinds[i]);
			json_add_amount(j, key, amounts[i][o]);
		}
}

static void add_json_values(struct json *j, const struct allocator_stats *stats)
{
	json_begin_object(j, "values");
	for (size_t i = 0; i < stats->value_count; i++)
		json_add_number(j, stats->values[i].name, stats->values[i].value);
	json_end_object(j);
}

/*
 * For each figure that the allocator reports, append the value from memstate's own walk
 * of the heap. If the walk provides none of these figures, append null.
 */
static void add_json_walked(struct json *j, const struct heap *heap,
			    const struct allocator_stats *stats)
{
	struct stats_pair pairs[STATS_PAIR_MAX];
	size_t count = classify_stats_compare(stats, heap, pairs);

	if (count == 0) {
		json_add_null(j, "apart_bytes");
		json_add_null(j, "walked");
		return;
	}
	json_add_amount(j, "apart_bytes", classify_stats_difference(pairs, count));
	json_begin_object(j, "walked");
	for (size_t i = 0; i < count; i++)
		json_add_number(j, pairs[i].name, pairs[i].walked);
	json_end_object(j);
}

void heap_helper_add_json(struct json *j, const struct heap_page *p)
{
	const struct helper_answer *answer = p->options->answer;

	if (!answer)
		return;
	json_add_string(j, "helper_problem", answer->problem);
	if (!helper_answer_is_known(answer)) {
		json_add_null(j, "helper");
		return;
	}
	json_begin_object(j, "helper");
	json_add_bool(j, "put_in", answer->was_injected);
	json_add_string(j, "allocator", allocator_names[answer->stats.allocator]);
	json_add_amount(j, "stops", answer->stop_count);
	json_add_seconds_us(j, "stopped_s", answer->stopped_ns);
	json_add_seconds_us(j, "cost_s", answer->stats.cost_ns);
	json_add_amount(j, "system_bytes", answer->stats.system_bytes);
	json_add_amount(j, "live_bytes", answer->stats.live_bytes);
	json_add_amount(j, "pool_bytes", answer->stats.pool_bytes);
	add_json_bounds(j, &answer->bounds);
	add_json_values(j, &answer->stats);
	add_json_walked(j, p->heap, &answer->stats);
	json_add_string(j, "text", answer->stats.text);
	json_end_object(j);
}
