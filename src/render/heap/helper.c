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

#define NAME_WIDTH 34
#define KEY_SIZE 48

/* Append how the allocator was queried, and how long that paused the process. */
static void add_asking(const struct heap_page *p, const struct helper_answer *answer)
{
	char cost[UNITS_TEXT_SIZE], stopped[UNITS_TEXT_SIZE];

	strbuf_addf(p->out, "\n  Asked inside the process, by a helper that ");
	if (answer->was_put_in)
		strbuf_addf(
			p->out,
			"was put in for that:\n  one thread stopped %u time%s, %s in all. ",
			answer->stop_count, answer->stop_count == 1 ? "" : "s",
			units_format_duration(answer->stopped_ns, stopped));
	else
		strbuf_add_text(p->out, "was there. ");
	strbuf_addf(p->out, "The answer took %s.\n",
		    units_format_duration(answer->stats.cost_ns, cost));
}

/*
 * Append, by owner, the bytes that the allocator reports, with the lower and upper bound
 * of how many of them are resident.
 */
static void add_bounds(const struct heap_page *p, const struct heap_bounds *bounds)
{
	static const char *const labels[] = {
		[OWNER_LIVE] = "live: in use",
		[OWNER_POOL_PAGES] = "pool_pages: free, whole pages",
		[OWNER_POOL_FRAGMENTS] = "pool_fragments: free, elsewhere",
		[OWNER_HEAP_META] = "heap_meta: its own",
	};
	bool is_one_sum = !bytes_known(bounds->said_bytes[OWNER_POOL_FRAGMENTS]);
	int width = heap_page_bytes_width(p) + 1;

	strbuf_addf(p->out, "\n  %-*s %*s %*s %*s\n", NAME_WIDTH, "RESIDENT, as it says",
		    width, "SAID", width, "AT LEAST", width, "AT MOST");
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++) {
		strbuf_addf(p->out, "  %-*s ", NAME_WIDTH,
			    o == OWNER_LIVE && is_one_sum ? "live: in use, or free"
							  : labels[o]);
		heap_page_add_bytes(p, bounds->said_bytes[o], width);
		strbuf_add_char(p->out, ' ');
		heap_page_add_bytes(p, bounds->least_bytes[o], width);
		strbuf_add_char(p->out, ' ');
		heap_page_add_bytes(p, bounds->most_bytes[o], width);
		strbuf_add_char(p->out, '\n');
	}
	strbuf_add_text(p->out, "  of ");
	heap_page_add_bytes(p, bounds->resident_bytes, 0);
	strbuf_add_text(p->out, " resident that may be its memory, beside ");
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

	strbuf_addf(p->out, "\n  %-*s %*s", NAME_WIDTH, "IN ITS OWN WORDS", width,
		    "SAID");
	if (is_walked)
		strbuf_addf(p->out, " %*s %*s", width, "WALKED", width, "APART");
	strbuf_add_char(p->out, '\n');
	for (size_t i = 0; i < answer->stats.value_count; i++)
		add_value(p, &answer->stats.values[i]);
}

/* Append text from outside memstate line by line, each made printable. */
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
	add_asking(p, answer);
	if (p->heap->is_said)
		add_bounds(p, &answer->bounds);
	add_values(p, answer);
	if (answer->stats.text)
		strbuf_add_char(p->out, '\n');
	add_text(p->out, answer->stats.text);
}

/* The report as JSON. */

static void add_json_bounds(struct strbuf *out, const struct heap_bounds *bounds)
{
	static const char *const kinds[] = { "said", "at_least", "at_most" };
	const uint64_t *const amounts[] = {
		bounds->said_bytes,
		bounds->least_bytes,
		bounds->most_bytes,
	};
	char key[KEY_SIZE];

	heap_json_add_number(out, "resident_bytes", bounds->resident_bytes);
	heap_json_add_number(out, "missing_bytes", bounds->missing_bytes);
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			snprintf(key, sizeof(key), "%s_%s_bytes", owner_names[o],
				 kinds[i]);
			heap_json_add_number(out, key, amounts[i][o]);
		}
}

static void add_json_values(const struct heap_page *p,
			    const struct allocator_stats *stats)
{
	for (size_t i = 0; i < stats->value_count; i++)
		strbuf_addf(p->out, "%s\"%s\":%" PRIu64, i > 0 ? "," : ",\"values\":{",
			    stats->values[i].name, stats->values[i].value);
	strbuf_add_text(p->out, stats->value_count > 0 ? "}" : ",\"values\":{}");
}

static void add_json_walked(const struct heap_page *p,
			    const struct allocator_stats *stats)
{
	struct stats_pair pairs[STATS_PAIR_MAX];
	size_t count = classify_stats_compare(stats, p->heap, pairs);

	heap_json_add_number(p->out, "apart_bytes",
			     count > 0 ? classify_stats_difference(pairs, count)
				       : BYTES_UNKNOWN);
	strbuf_add_text(p->out, ",\"walked\":");
	for (size_t i = 0; i < count; i++)
		strbuf_addf(p->out, "%c\"%s\":%" PRIu64, i > 0 ? ',' : '{', pairs[i].name,
			    pairs[i].walked);
	strbuf_add_text(p->out, count > 0 ? "}" : "null");
}

void heap_helper_add_json(const struct heap_page *p)
{
	const struct helper_answer *answer = p->options->answer;
	struct strbuf *out = p->out;

	if (!answer)
		return;
	strbuf_add_text(out, ",\"helper_problem\":");
	if (answer->problem)
		json_add_string(out, answer->problem, strlen(answer->problem));
	else
		strbuf_add_text(out, "null");
	if (!helper_answer_is_known(answer)) {
		strbuf_add_text(out, ",\"helper\":null");
		return;
	}
	strbuf_addf(out, ",\"helper\":{\"put_in\":%s,\"allocator\":\"%s\"",
		    answer->was_put_in ? "true" : "false",
		    allocator_names[answer->stats.allocator]);
	heap_json_add_number(out, "stops", answer->stop_count);
	strbuf_addf(out,
		    ",\"stopped_s\":%" PRIu64 ".%06" PRIu64 ",\"cost_s\":%" PRIu64
		    ".%06" PRIu64,
		    answer->stopped_ns / NS_PER_S,
		    answer->stopped_ns / NS_PER_US % 1000000,
		    answer->stats.cost_ns / NS_PER_S,
		    answer->stats.cost_ns / NS_PER_US % 1000000);
	heap_json_add_number(out, "system_bytes", answer->stats.system_bytes);
	heap_json_add_number(out, "live_bytes", answer->stats.live_bytes);
	heap_json_add_number(out, "pool_bytes", answer->stats.pool_bytes);
	add_json_bounds(out, &answer->bounds);
	add_json_values(p, &answer->stats);
	add_json_walked(p, &answer->stats);
	strbuf_add_text(out, ",\"text\":");
	if (answer->stats.text)
		json_add_string(out, answer->stats.text, strlen(answer->stats.text));
	else
		strbuf_add_text(out, "null");
	strbuf_add_char(out, '}');
}
