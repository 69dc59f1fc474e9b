/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_stats - statistics of counted runs: median, lowest and highest figures, whether
 * the runs differ, and whether they meet their limits. Pure.
 *
 * Figures are thousandths per iteration, rounded up. Levels such as a peak are not
 * divided by the iterations.
 */
#ifndef MS_CLASSIFY_PROFILE_COUNT_STATS_H
#define MS_CLASSIFY_PROFILE_COUNT_STATS_H

#include "classify/compare/compare.h"
#include "model/count_runs.h"

struct count_stats {
	struct spread figures[COUNTED_COUNT_]; /* unknown unless known in every run */
	bool differs[COUNTED_COUNT_];
	/* At least two runs, with no difference in any counted figure. */
	bool is_deterministic;
	bool is_rounded; /* a figure was not divisible by the number of iterations */
};

void count_stats_init(struct count_stats *stats, const struct count_runs *runs);

enum limit_outcome {
	LIMIT_KEPT,
	LIMIT_ABOVE,   /* the median exceeds the limit by more than the tolerance */
	LIMIT_BELOW,   /* likewise below the limit; only for LIMIT_EQUAL */
	LIMIT_LOOSE,   /* met, but even the highest run is far below the limit */
	LIMIT_UNKNOWN, /* the figure is unknown */
};

enum limit_outcome count_limit_check(const struct count_limit *limit,
				     const struct count_stats *stats);

/*
 * Set the limit from these runs: to the highest run for LIMIT_AT_MOST, to the median for
 * LIMIT_EQUAL. Returns 0, or -ENODATA if the figure is unknown.
 */
int count_limit_update(struct count_limit *limit, const struct count_stats *stats);

#endif
