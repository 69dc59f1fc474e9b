/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * growth - determine whether an amount grows with time, and when it will reach a limit.
 * The functions are pure.
 *
 * Memory use rises and falls with the work. Growth is therefore measured on floors:
 * the minimum of each cycle of the work or, without a cycle, of each window of time.
 * The growth rate is the median of the slopes between all pairs of floors (Theil-Sen),
 * with its 95 % rank interval (Kendall's variance). Warm-up and single jumps do not
 * count as steady growth. Growth that is significant but small compared with the
 * amount or its noise is classified as slow. With fewer than GROWTH_FLOORS_MIN floors
 * there is no result.
 *
 * Limitations: a warm-up longer than the observed time counts as growth; the rising half
 * of a daily cycle counts as a plateau; bursts cannot be predicted.
 */
#ifndef MS_CLASSIFY_GROWTH_GROWTH_H
#define MS_CLASSIFY_GROWTH_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GROWTH_FLOORS_MIN 6
/* Maximum number of windows, and their actual number for a series without a cycle. */
#define GROWTH_FLOORS_MAX 24

enum growth_kind {
	GROWTH_TOO_SHORT, /* the series has too few windows for a result */
	GROWTH_NONE,	  /* the confidence interval of the growth rate contains 0 */
	GROWTH_FALLING,	  /* the confidence interval of the growth rate is below 0 */
	/*
	 * The confidence interval of the growth rate is above 0, but the rise is below
	 * the thresholds. GROWTH_BRIEF: at this rate, the rise would reach the threshold
	 * within an hour, so the series is too short for a decision. GROWTH_SLOW: the
	 * rise would take longer.
	 */
	GROWTH_BRIEF,
	GROWTH_SLOW,
	GROWTH_STEP,	/* most of the growth is a single jump */
	GROWTH_PLATEAU, /* the amount grew earlier, but no longer does */
	GROWTH_STEADY,	/* the amount still grows at the end of the series */
	GROWTH_KIND_COUNT_
};

/* Names of the kinds of growth in JSON and CSV output. */
extern const char *const growth_kind_names[GROWTH_KIND_COUNT_];

struct growth_point {
	uint64_t time_ns; /* time of the point, not before that of the previous point */
	uint64_t bytes;
};

struct growth {
	enum growth_kind kind;
	/*
	 * Number of additional samples, or additional time, that a result requires. The
	 * time is set for GROWTH_BRIEF, and for GROWTH_TOO_SHORT if the workload is
	 * cyclic. With GROWTH_TOO_SHORT, both members are 0 if all samples have the same
	 * time.
	 */
	size_t missing_count;
	uint64_t missing_ns;
	size_t floor_count;
	/* length of a window; the minimum of a window is called its floor */
	uint64_t window_ns;
	/* length of the workload's cycle; 0: no cycle was detected */
	uint64_t cycle_ns;
	/*
	 * Growth rate of the window minima in bytes per hour, with its bounds; 0
	 * for GROWTH_TOO_SHORT.
	 */
	int64_t rate_bytes, rate_low_bytes, rate_high_bytes;
	uint64_t floor_bytes; /* minimum of the last window */
	/* maximum height of a peak above the minimum of its window */
	uint64_t tooth_bytes;
	/* expected peak at the time of the last point, with its bounds */
	double top_bytes, top_low_bytes, top_high_bytes;
	/* standard deviation of the random growth per window, in bytes */
	double random_growth_bytes;
	/* length of a grid step in ns, after resampling */
	uint64_t step_ns;
};

/* Classify the growth of an amount. The points may be unevenly spaced in time. */
void growth_find(const struct growth_point *points, size_t count, struct growth *ret);

#endif
