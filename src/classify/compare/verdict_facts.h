/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict_facts - the facts that the rules of the verdict evaluate: the figures in which
 * variants differ, and whether their memory grows. Pure. Variants are indices.
 */
#ifndef MS_CLASSIFY_COMPARE_VERDICT_FACTS_H
#define MS_CLASSIFY_COMPARE_VERDICT_FACTS_H

#include "base/units.h"
#include "classify/compare/compare.h"

/* Minimum number of good runs for a spread. */
#define LEAST_RUNS 2

/*
 * Minimum difference of two medians in addition to their spreads: these amounts, and
 * 5% of the larger median.
 */
#define LEAST_BYTES MIB
#define LEAST_NS (50 * NS_PER_MS)

#define NOBODY SIZE_MAX

/*
 * A figure in which variants differ: the variant with the lowest value, and the
 * one it is compared with.
 */
struct difference {
	enum figure figure;
	size_t low, high; /* NOBODY in both: they do not differ */
};

struct facts {
	const struct compared *compared;
	/* Variants with at least LEAST_RUNS good runs; at least two. */
	const size_t *usable;
	size_t usable_count;
	enum run_moment
		moment; /* settled, or the end if not all runs have a settled moment */
	struct difference rss, firm, peak, cpu;
	bool live_grows; /* under every variant where it is known, if at least two are */
	bool rss_grows;	 /* under every variant */
	bool is_live_same;
};

/* Fill in the remaining fields from compared and usable. */
void facts_find(struct facts *f);

const struct spread *facts_spread(const struct facts *f, size_t variant,
				  enum figure figure);

/* Return true if enough runs have the figure: LEAST_RUNS, or one for figures by owner. */
bool facts_know(const struct facts *f, size_t variant, enum figure figure);

/*
 * Return true if the medians are further apart than both spreads together, and by `least`
 * and 5%. The spread of two runs counts three times.
 */
bool spreads_are_apart(const struct spread *low, const struct spread *high,
		       uint64_t least);

/*
 * Return the usable variant with the lowest or highest median, or NOBODY if the
 * figure is unknown for all.
 */
size_t facts_find_extreme(const struct facts *f, enum figure figure, bool is_highest);

static inline bool is_different(const struct difference *d)
{
	return d->low != NOBODY;
}

#endif
