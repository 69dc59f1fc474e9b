/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_stats - the figures of counted runs: the median with the least and the most, whether
 * the runs differ, and whether they keep to limits. Pure.
 *
 * Figures are thousandths of one iteration's share, rounded up; but those that are levels
 * (a peak) are no iteration's.
 */
#ifndef MS_CLASSIFY_COUNT_STATS_H
#define MS_CLASSIFY_COUNT_STATS_H

#include "classify/compare.h"
#include "model/count_runs.h"

struct count_stats {
	struct spread figures[COUNTED_COUNT_]; /* unknown unless known in all runs */
	bool differs[COUNTED_COUNT_];
	bool is_deterministic; /* two runs or more, in which nothing that was counted differs */
	bool is_rounded;       /* the iterations do not go into one of them */
};

void count_stats_init(struct count_stats *stats, const struct count_runs *runs);

enum limit_outcome {
	LIMIT_KEPT,
	LIMIT_ABOVE,   /* the median is, by more than the tolerance */
	LIMIT_BELOW,   /* likewise; of LIMIT_EQUAL */
	LIMIT_LOOSE,   /* kept, but even the most is far below */
	LIMIT_UNKNOWN, /* the figure is */
};

enum limit_outcome count_limit_check(const struct count_limit *limit,
				     const struct count_stats *stats);

/*
 * The limit as it is set by these runs: what is at most the most of them, what is equal
 * the median. Returns 0, or -ENODATA where the figure is unknown.
 */
int count_limit_update(struct count_limit *limit, const struct count_stats *stats);

#endif
