/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/process/growth_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "classify/growth/limit_time.h"

const char *const growth_titles[GROWTH_KIND_COUNT_] = {
	[GROWTH_TOO_SHORT] = "too soon to tell",
	[GROWTH_BRIEF] = "too soon to tell",
	[GROWTH_NONE] = "no growth",
	[GROWTH_FALLING] = "falling",
	[GROWTH_SLOW] = "growing slowly",
	[GROWTH_STEP] = "one step",
	[GROWTH_PLATEAU] = "plateau",
	[GROWTH_STEADY] = "growing",
};

const char *const growth_cause_words[GROWTH_CAUSE_COUNT_] = {
	[GROWTH_CAUSE_UNKNOWN] =
		"the heap was read too rarely or not at all, so it is unknown whether "
		"allocated blocks grow, or freed memory that the allocator keeps",
	[GROWTH_CAUSE_LEAK] =
		"its allocated blocks grow, too: the program does not free them",
	[GROWTH_CAUSE_KEPT] =
		"its allocated blocks grow less or not at all: the allocator keeps freed "
		"memory (retention or fragmentation)",
};

const char growth_caveats[] =
	"A warm-up that takes longer than the samples cover looks like growth, the "
	"rising half of a daily cycle looks like a plateau, and bursts cannot be "
	"predicted.";

/* Append a growth rate with its unit, such as "+60.1M/h". */
static void add_rate(struct strbuf *out, int64_t bytes_per_hour,
		     const struct units_rate *unit)
{
	char rate[UNITS_TEXT_SIZE];

	strbuf_addf(out, "%s%s", units_format_rate_in(bytes_per_hour, unit, rate),
		    unit->name);
}

void growth_add_rate(struct strbuf *out, const struct growth *g,
		     const struct units_rate *unit)
{
	add_rate(out, g->rate_bytes, unit);
	strbuf_add_text(out, " (");
	add_rate(out, g->rate_low_bytes, unit);
	strbuf_add_text(out, " to ");
	add_rate(out, g->rate_high_bytes, unit);
	strbuf_add_char(out, ')');
}

/*
 * Append the period over which each lowest value was determined: "the lowest value in
 * each cycle (6m40s)", or "the lowest value in each 1m00s" if there is no cycle.
 */
static void add_windows(struct strbuf *out, const struct growth *g)
{
	char buf[UNITS_TEXT_SIZE];

	if (g->cycle_ns > 0)
		strbuf_addf(out, "the lowest value in each cycle (%s)",
			    units_format_duration(g->cycle_ns, buf));
	else
		strbuf_addf(out, "the lowest value in each %s",
			    units_format_duration(g->window_ns, buf));
}

/*
 * Append what is still missing to determine growth, such as "3 more samples are needed".
 */
static void add_missing(struct strbuf *out, const struct growth *g)
{
	char cycle[UNITS_TEXT_SIZE], missing[UNITS_TEXT_SIZE];

	if (g->missing_count > 0)
		strbuf_addf(out, "%zu more sample%s needed", g->missing_count,
			    g->missing_count == 1 ? " is" : "s are");
	else if (g->missing_ns > 0)
		strbuf_addf(out,
			    "the samples cover %zu of the %d cycles (%s each) that are "
			    "needed; sample for %s more",
			    g->floor_count, GROWTH_FLOORS_MIN,
			    units_format_duration(g->cycle_ns, cycle),
			    units_format_duration(g->missing_ns, missing));
	else
		strbuf_add_text(out, "samples at different times are needed");
}

int64_t growth_largest_rate(const struct growth *g)
{
	int64_t rate = llabs(g->rate_bytes), low = llabs(g->rate_low_bytes),
		high = llabs(g->rate_high_bytes);

	if (rate < low)
		rate = low;
	return rate > high ? rate : high;
}

void growth_add_words(struct strbuf *out, const struct growth *g,
		      const struct units_rate *unit)
{
	char missing[UNITS_TEXT_SIZE];

	strbuf_addf(out, "%s: ", growth_titles[g->kind]);
	switch (g->kind) {
	case GROWTH_TOO_SHORT: add_missing(out, g); return;
	case GROWTH_STEP:
		strbuf_add_text(out, "most of the rise was a single jump");
		return;
	case GROWTH_PLATEAU:
		strbuf_add_text(out, "it rose earlier, and has almost stopped rising");
		return;
	case GROWTH_BRIEF:
		strbuf_addf(out, "sample for %s more; ",
			    units_format_duration(g->missing_ns, missing));
		break;
	case GROWTH_NONE:
	case GROWTH_FALLING:
	case GROWTH_SLOW:
	case GROWTH_STEADY:
	case GROWTH_KIND_COUNT_: break;
	}
	add_windows(out, g);
	strbuf_add_text(out, " changes by ");
	growth_add_rate(out, g, unit ? unit : units_find_rate(growth_largest_rate(g)));
}

void growth_add_time(struct strbuf *out, const struct growth *g, uint64_t limit_bytes)
{
	char tooth[UNITS_TEXT_SIZE];
	struct growth_time left;

	if (!bytes_known(limit_bytes) || !growth_time_to(g, limit_bytes, &left) ||
	    left.ns == UINT64_MAX)
		return;
	growth_time_add(out, &left);
	if (g->tooth_bytes > 0)
		strbuf_addf(out, ", counting peaks of up to %s above the lowest value",
			    units_format_bytes(g->tooth_bytes, tooth));
}

void growth_add_process(struct strbuf *out, const struct process_trend *t,
			const struct growth_words_options *options)
{
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;
	char span[UNITS_TEXT_SIZE];

	strbuf_add_text(&words, "Need of ");
	text_add_printable(&words, t->process.comm, strlen(t->process.comm),
			   options->ascii);
	strbuf_addf(&words, " (%d) over %s (%" PRIu64 " samples): ", t->process.pid,
		    units_format_duration(t->need.span_ns, span), t->need.sample_count);
	growth_add_words(&words, &t->need.growth, NULL);
	if (t->need.growth.kind == GROWTH_STEADY)
		strbuf_addf(&words, "; %s", growth_cause_words[process_trend_cause(t)]);
	strbuf_add_char(&words, '.');
	text_add_wrapped(out, words.text, 0, options->width);
}
