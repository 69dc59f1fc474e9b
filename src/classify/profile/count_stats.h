/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_stats - compute statistics of runs whose allocations were counted: the median,
 * minimum and maximum of each figure, whether the runs differ, and whether they meet
 * their limits. The functions are pure.
 *
 * Figures are in thousandths per iteration, rounded up. Amounts such as a peak are not
 * divided by the number of iterations.
 */
#ifndef MS_CLASSIFY_PROFILE_COUNT_STATS_H
#define MS_CLASSIFY_PROFILE_COUNT_STATS_H

#include "classify/compare/compare.h"
#include "model/count_runs.h"

struct count_stats {
	/*
	 * Statistics of one figure over all runs; unknown if the
	 * figure is unknown in any run.
	 */
	struct spread figures[COUNTED_COUNT_];
	bool differs[COUNTED_COUNT_];
	/* true if there are at least two runs, and all runs have the same figures */
	bool is_deterministic;
	/* true if the total was not a multiple of the number of iterations */
	bool is_rounded;
};

void count_stats_init(struct count_stats *stats, const struct count_runs *runs);

enum limit_outcome {
	LIMIT_KEPT,
	LIMIT_ABOVE, /* the median exceeds the limit by more than the tolerance */
	/*
	 * the median is below the required value by more than the tolerance;
	 * LIMIT_EQUAL only
	 */
	LIMIT_BELOW,
	/* the limit is met, but even the highest run is far below it */
	LIMIT_LOOSE,
	/* the figure is unknown, so the limit cannot be checked */
	LIMIT_UNKNOWN,
};

enum limit_outcome count_limit_check(const struct count_limit *limit,
				     const struct count_stats *stats);

/*
 * Set the limit from the runs: to the highest run for LIMIT_AT_MOST, to the median for
 * LIMIT_EQUAL. Return 0, or -ENODATA if the figure is unknown.
 */
int count_limit_update(struct count_limit *limit, const struct count_stats *stats);

#endif
