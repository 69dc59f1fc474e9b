/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_stats - statistics of counted runs: median, lowest and highest figures, whether
 * the runs differ, and whether they meet their limits. Pure.
 *
 * Figures are thousandths per iteration, rounded up. Amounts such as a peak are not
 * divided by the iterations.
 */
#ifndef MS_CLASSIFY_PROFILE_COUNT_STATS_H
#define MS_CLASSIFY_PROFILE_COUNT_STATS_H

#include "classify/compare/compare.h"
#include "model/count_runs.h"

struct count_stats {
	/* A figure is unknown if it is unknown in any of the runs. */
	struct spread figures[COUNTED_COUNT_];
	bool differs[COUNTED_COUNT_];
	/*
	 * There are at least two runs, and all counted figures
	 * are the same in every run.
	 */
	bool is_deterministic;
	bool is_rounded; /* a figure was not a multiple of the number of iterations */
};

void count_stats_init(struct count_stats *stats, const struct count_runs *runs);

enum limit_outcome {
	LIMIT_KEPT,
	LIMIT_ABOVE, /* the median exceeds the limit by more than the tolerance */
	/*
	 * the median is below the limit by more than the
	 * tolerance; only for LIMIT_EQUAL
	 */
	LIMIT_BELOW,
	/* the limit is met, but even the highest run is far below the limit */
	LIMIT_LOOSE,
	LIMIT_UNKNOWN, /* the figure is unknown */
};

enum limit_outcome count_limit_check(const struct count_limit *limit,
				     const struct count_stats *stats);

/*
 * Set the limit according to the runs: to the highest run for LIMIT_AT_MOST, or to the
 * median for LIMIT_EQUAL. Return 0, or -ENODATA if the figure is unknown.
 */
int count_limit_update(struct count_limit *limit, const struct count_stats *stats);

#endif
