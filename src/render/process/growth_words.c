/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/process/growth_words.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

const char *const growth_titles[GROWTH_KIND_COUNT_] = {
	[GROWTH_TOO_SHORT] = "too few cycles",
	[GROWTH_NONE] = "no growth",
	[GROWTH_STEP] = "one step",
	[GROWTH_PLATEAU] = "plateau",
	[GROWTH_STEADY] = "growing",
};

const char *const growth_cause_words[GROWTH_CAUSE_COUNT_] = {
	[GROWTH_CAUSE_UNKNOWN] =
		"read the heap to find out whether blocks in use grow, or freed memory "
		"that the allocator keeps",
	[GROWTH_CAUSE_LEAK] = "its blocks in use grow, too: they are not freed",
	[GROWTH_CAUSE_KEPT] =
		"its blocks in use grow less or not at all: the allocator keeps freed "
		"memory (retention, or fragments)",
};

const char growth_caveats[] =
	"This cannot distinguish a warm-up slower than the time covered from growth, "
	"nor the rising half of a daily cycle from a plateau, and it cannot foresee a burst.";

/* Append the growth rate with its lower and upper bound. */
static void add_rate(struct strbuf *out, const struct growth *g)
{
	char rate[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];

	strbuf_addf(out, "%s (%s to %s)",
		    units_format_rate(g->rate_bytes, g->rate_bytes, rate),
		    units_format_rate(g->rate_low_bytes, g->rate_bytes, low),
		    units_format_rate(g->rate_high_bytes, g->rate_bytes, high));
}

/*
 * Append the period over which each floor was computed: "the floor of each cycle (6m40s)"
 * or, if there is no cycle, "the floor of each 1m00s".
 */
static void add_windows(struct strbuf *out, const struct growth *g)
{
	char buf[UNITS_TEXT_SIZE];

	if (g->cycle_ns > 0)
		strbuf_addf(out, "the floor of each cycle (%s)",
			    units_format_duration(g->cycle_ns, buf));
	else
		strbuf_addf(out, "the floor of each %s",
			    units_format_duration(g->window_ns, buf));
}

static void add_too_short(struct strbuf *out, const struct growth *g)
{
	char buf[UNITS_TEXT_SIZE];

	if (g->cycle_ns > 0)
		strbuf_addf(out,
			    "%zu cycles of the work (%s each) were seen, %d are "
			    "needed",
			    g->floor_count, units_format_duration(g->cycle_ns, buf),
			    GROWTH_FLOORS_MIN);
	else
		strbuf_addf(out, "%d samples over some time are needed, better hundreds",
			    GROWTH_FLOORS_MIN);
}

void growth_add_words(struct strbuf *out, const struct growth *g)
{
	strbuf_addf(out, "%s: ", growth_titles[g->kind]);
	switch (g->kind) {
	case GROWTH_TOO_SHORT: add_too_short(out, g); return;
	case GROWTH_STEP:
		strbuf_add_text(out, "it rose once, and most of the total rise was then");
		return;
	case GROWTH_PLATEAU:
		strbuf_add_text(out, "it rose, and has nearly stopped rising");
		return;
	case GROWTH_NONE:
	case GROWTH_STEADY:
	case GROWTH_KIND_COUNT_: break;
	}
	add_windows(out, g);
	strbuf_add_text(out, " changes by ");
	add_rate(out, g);
}

void growth_add_time(struct strbuf *out, const struct growth *g, uint64_t limit_bytes)
{
	char at[UNITS_TEXT_SIZE], soonest[UNITS_TEXT_SIZE], latest[UNITS_TEXT_SIZE];
	char tooth[UNITS_TEXT_SIZE];
	struct growth_time left;

	if (!bytes_known(limit_bytes) || !growth_time_to(g, limit_bytes, &left) ||
	    left.ns == UINT64_MAX)
		return;
	strbuf_addf(out, "reaches the limit in %s (%s to %s)",
		    units_format_duration(left.ns, at),
		    left.soonest_ns < NS_PER_S
			    ? "now"
			    : units_format_duration(left.soonest_ns, soonest),
		    left.latest_ns == UINT64_MAX
			    ? "never"
			    : units_format_duration(left.latest_ns, latest));
	if (g->tooth_bytes > 0)
		strbuf_addf(out, ", at the tallest peak seen, %s above its floor",
			    units_format_bytes(g->tooth_bytes, tooth));
}

void growth_add_process(struct strbuf *out, const struct process_trend *t,
			const struct growth_words_options *options)
{
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;
	char span[UNITS_TEXT_SIZE];

	if (options->with_name) {
		strbuf_addf(&words, "%d ", t->process.pid);
		text_add_printable(&words, t->process.comm, strlen(t->process.comm),
				   options->ascii);
		strbuf_add_text(&words, ": ");
	}
	strbuf_addf(&words, "Need over %s (%" PRIu64 " samples): ",
		    units_format_duration(t->need.span_ns, span), t->need.sample_count);
	growth_add_words(&words, &t->need.growth);
	if (t->need.growth.kind == GROWTH_STEADY)
		strbuf_addf(&words, "; %s", growth_cause_words[process_trend_cause(t)]);
	strbuf_add_char(&words, '.');
	text_add_wrapped(out, words.text, 0, options->width);
}
