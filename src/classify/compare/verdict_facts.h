/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict_facts - derive the facts that the verdict rules evaluate: the figures in which
 * variants differ, and whether their memory grows. Variants are identified by their
 * indices. The functions are pure.
 */
#ifndef MS_CLASSIFY_COMPARE_VERDICT_FACTS_H
#define MS_CLASSIFY_COMPARE_VERDICT_FACTS_H

#include "base/units.h"
#include "classify/compare/compare.h"

/* Minimum number of good runs that is needed to compute a spread. */
#define RUNS_MIN 2

/*
 * Minimum difference of two medians that counts as a difference. The medians must also
 * differ by more than both spreads and by more than 5% of the larger one.
 */
#define DIFFERENCE_MIN_BYTES MIB
#define DIFFERENCE_MIN_NS (50 * NS_PER_MS)

#define NOBODY SIZE_MAX

/*
 * A figure in which two variants differ. Variant `low` has the lowest value; variant
 * `high` is the one it is compared with.
 */
struct difference {
	enum figure figure;
	/* `low` and `high` are NOBODY if no two variants differ in this figure. */
	size_t low, high;
};

struct facts {
	const struct compared *compared;
	/*
	 * Indices of the variants with at least RUNS_MIN good runs. There are
	 * at least two such variants.
	 */
	const size_t *usable;
	size_t usable_count;
	enum run_moment
		/*
		 * moment at which variants are compared: MOMENT_SETTLED, or MOMENT_END if
		 * memory use did not settle in some runs
		 */
		moment;
	struct difference rss, firm, peak, cpu;
	/*
	 * Live memory grows under every variant for which it is known, and it is known
	 * for at least two variants.
	 */
	bool live_grows;
	bool rss_grows; /* Rss grows under all variants */
	bool is_live_same;
};

/* Fill in the remaining fields of *f from f->compared and f->usable. */
void facts_find(struct facts *f);

const struct spread *facts_spread(const struct facts *f, size_t variant,
				  enum figure figure);

/*
 * Return true if the figure is known in enough runs of the variant: in RUNS_MIN runs, or
 * in one run for sizes by owner.
 */
bool facts_are_known(const struct facts *f, size_t variant, enum figure figure);

/*
 * Return true if the distance of two variants' medians exceeds the sum of both spreads,
 * `min`, and 5% of the larger median. The spread of only two runs is multiplied by three.
 */
bool spreads_are_apart(const struct spread *low, const struct spread *high, uint64_t min);

/*
 * Among the usable variants, return the one with the lowest or highest median. Return
 * NOBODY if the figure is unknown for all variants.
 */
size_t facts_find_extreme(const struct facts *f, enum figure figure, bool is_highest);

static inline bool is_different(const struct difference *d)
{
	return d->low != NOBODY;
}

#endif
