/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict_facts - the facts that the rules of the verdict evaluate: the
 * figures in which variants differ, and whether their memory grows.
 * Variants are given as indices. Pure.
 */
#ifndef MS_CLASSIFY_COMPARE_VERDICT_FACTS_H
#define MS_CLASSIFY_COMPARE_VERDICT_FACTS_H

#include "base/units.h"
#include "classify/compare/compare.h"

/* Minimum number of good runs from which a spread is computed. */
#define RUNS_MIN 2

/*
 * Minimum difference of two medians that counts. The difference must also exceed
 * both spreads and 5% of the larger median.
 */
#define DIFFERENCE_MIN_BYTES MIB
#define DIFFERENCE_MIN_NS (50 * NS_PER_MS)

#define NOBODY SIZE_MAX

/*
 * A figure in which two variants differ. Variant `low` has the lowest value; `high` is
 * the variant that `low` is compared with.
 */
struct difference {
	enum figure figure;
	size_t low, high; /* both are NOBODY if no two variants differ in this figure */
};

struct facts {
	const struct compared *compared;
	/* Indices of the variants with at least RUNS_MIN good runs; at least two. */
	const size_t *usable;
	size_t usable_count;
	enum run_moment
		/* MOMENT_SETTLED, or MOMENT_END if some runs have no settled moment */
		moment;
	struct difference rss, firm, peak, cpu;
	/*
	 * Live memory is known for at least two variants, and grows under
	 * every variant for which it is known.
	 */
	bool live_grows;
	bool rss_grows; /* Rss grows under every variant */
	bool is_live_same;
};

/* Fill in the remaining fields of *f from f->compared and f->usable. */
void facts_find(struct facts *f);

const struct spread *facts_spread(const struct facts *f, size_t variant,
				  enum figure figure);

/*
 * Return true if enough runs of the variant have the figure:
 * RUNS_MIN, or one for figures by owner.
 */
bool facts_are_known(const struct facts *f, size_t variant, enum figure figure);

/*
 * Return true if the medians of two variants are further apart than the
 * sum of both spreads, than `min`, and than 5% of the larger median. The
 * spread of two runs counts three times.
 */
bool spreads_are_apart(const struct spread *low, const struct spread *high, uint64_t min);

/*
 * Return the usable variant with the lowest or highest median. Return NOBODY if
 * the figure is unknown for all variants.
 */
size_t facts_find_extreme(const struct facts *f, enum figure figure, bool is_highest);

static inline bool is_different(const struct difference *d)
{
	return d->low != NOBODY;
}

#endif
