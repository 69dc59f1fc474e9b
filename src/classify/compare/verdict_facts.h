/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict_facts - derive the facts for the verdict rules: in which figures variants
 * differ, and whether their memory grows. Variants are identified by index. The functions
 * are pure.
 */
#ifndef MS_CLASSIFY_COMPARE_VERDICT_FACTS_H
#define MS_CLASSIFY_COMPARE_VERDICT_FACTS_H

#include "base/units.h"
#include "classify/compare/compare.h"

/* Minimum number of good runs for computing a spread. */
#define RUNS_MIN 2

/*
 * Minimum distance between two medians that counts as a difference. The distance must
 * also exceed the sum of both spreads, and be at least 5% of the larger median.
 */
#define DIFFERENCE_MIN_BYTES MIB
#define DIFFERENCE_MIN_NS (50 * NS_PER_MS)

#define NOBODY SIZE_MAX

/*
 * A figure in which two variants differ. Variant `low` has the lowest value, and variant
 * `high` is compared with it.
 */
struct difference {
	enum figure figure;
	/* `low` and `high` are NOBODY if no variants differ in the figure */
	size_t low, high;
};

struct facts {
	const struct compared *compared;
	/*
	 * Indices of the variants with at least RUNS_MIN good runs. At least two variants
	 * have that many.
	 */
	const size_t *usable;
	size_t usable_count;
	enum run_moment
		/*
		 * moment at which variants are compared: MOMENT_SETTLED, or MOMENT_END if
		 * memory use did not settle in every run
		 */
		moment;
	struct difference rss, firm, peak, cpu;
	/* true if live memory is known to grow under at least two variants */
	bool live_grows;
	bool rss_grows; /* true if Rss grows under every variant */
	bool is_live_same;
};

/* Fill in the other members of *f from f->compared and f->usable. */
void facts_find(struct facts *f);

const struct spread *facts_spread(const struct facts *f, size_t variant,
				  enum figure figure);

/*
 * Return true if the figure is known in enough runs of the variant: one run for the
 * memory of an owner, RUNS_MIN runs for all other figures.
 */
bool facts_are_known(const struct facts *f, size_t variant, enum figure figure);

/*
 * Return true if the distance between two medians exceeds the sum of both spreads, and is
 * at least `min` and at least 5% of the larger median. The spread of only two runs counts
 * three times. Return false if either variant has fewer than RUNS_MIN runs.
 */
bool spreads_are_apart(const struct spread *low, const struct spread *high, uint64_t min);

/*
 * Return the usable variant with the lowest or the highest median, or NOBODY if the
 * figure is unknown for all variants.
 */
size_t facts_find_extreme(const struct facts *f, enum figure figure, bool is_highest);

static inline bool is_different(const struct difference *d)
{
	return d->low != NOBODY;
}

#endif
