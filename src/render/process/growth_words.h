/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * growth_words - full sentences about the growth of an amount over time.
 */
#ifndef MS_RENDER_PROCESS_GROWTH_WORDS_H
#define MS_RENDER_PROCESS_GROWTH_WORDS_H

#include "base/strbuf.h"
#include "base/units.h"
#include "classify/growth/trends.h"

/* Titles of the kinds of growth, such as "growing" or "too soon to tell". */
extern const char *const growth_titles[GROWTH_KIND_COUNT_];

/* Append a growth rate with its bounds, such as "+60.1M/h (+58.0M/h to +62.3M/h)". */
void growth_add_rate(struct strbuf *out, const struct growth *growth,
		     const struct units_rate *unit);

/* Return the largest absolute value among a growth rate and its bounds. */
int64_t growth_largest_rate(const struct growth *growth);

/*
 * Append the kind of growth and its details as a sentence without a full stop, such as
 * "growing: the lowest value in each cycle (6m40s) changes by +60.1M/h (+58.0M/h to
 * +62.3M/h)". All rates are shown in `unit`, or in the unit that suits the largest rate
 * if `unit` is NULL.
 */
void growth_add_words(struct strbuf *out, const struct growth *growth,
		      const struct units_rate *unit);

/*
 * Append a forecast such as "reaches the limit in 25m00s (24m10s to 28m05s), counting
 * peaks of up to 80.0M above the lowest value", or "is at the limit now". Append nothing
 * if the time cannot be determined.
 */
void growth_add_time(struct strbuf *out, const struct growth *growth,
		     uint64_t limit_bytes);

/* Explanations of why the memory need of a process is growing. */
extern const char *const growth_cause_words[GROWTH_CAUSE_COUNT_];

struct growth_words_options {
	size_t width;
	bool ascii;
};

/*
 * Append text such as "Need of server (1234) over 4m10s (250 samples): growing: …", and
 * the cause of the growth. The text is wrapped to options->width columns.
 */
void growth_add_process(struct strbuf *out, const struct process_trend *trend,
			const struct growth_words_options *options);

/* limitations of every growth analysis, for display with each result */
extern const char growth_caveats[];

#endif
