/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict_facts - what the rules of the verdict go by: in which figures variants differ,
 * and whether their memory grows. Pure. Variants are indices.
 */
#ifndef MS_CLASSIFY_VERDICT_FACTS_H
#define MS_CLASSIFY_VERDICT_FACTS_H

#include "base/units.h"
#include "classify/compare.h"

/* Fewer good runs have no spread. */
#define LEAST_RUNS 2

/* What two medians must be apart at least, beside their spreads: this, and 5% of the larger. */
#define LEAST_BYTES MIB
#define LEAST_NS (50 * NS_PER_MS)

#define NOBODY SIZE_MAX

/* A figure in which variants differ: the lowest one, and the one that it is measured against. */
struct difference {
	enum figure figure;
	size_t low, high; /* NOBODY in both: they do not differ */
};

struct facts {
	const struct compared *compared;
	const size_t *usable; /* variants with LEAST_RUNS good runs; at least two */
	size_t usable_count;
	enum run_moment moment; /* settled, or the end where that is not known of all */
	struct difference rss, firm, peak, cpu;
	bool live_grows; /* under all where it is known, and these are two or more */
	bool rss_grows;	 /* under all */
	bool is_live_same;
};

/* Fill in what follows from compared and usable. */
void facts_find(struct facts *f);

const struct spread *facts_spread(const struct facts *f, size_t variant,
				  enum figure figure);

/* Of enough runs: LEAST_RUNS, or one for what owners have. */
bool facts_know(const struct facts *f, size_t variant, enum figure figure);

/*
 * Their medians are further apart than both spreads together, and by `least` and 5%. The
 * spread of two runs counts three times.
 */
bool spreads_are_apart(const struct spread *low, const struct spread *high,
		       uint64_t least);

/* The usable variant with the lowest median, or the highest; NOBODY if it is known of none. */
size_t facts_find_extreme(const struct facts *f, enum figure figure, bool is_highest);

static inline bool is_different(const struct difference *d)
{
	return d->low != NOBODY;
}

#endif
