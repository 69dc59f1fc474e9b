/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * growth - determine whether an amount grows with time, and when it
 * will reach a limit. Pure.
 *
 * Memory use rises and falls with the work. Growth is therefore measured on floors: the
 * minimum of each cycle of the work, or of each window of time if there is no cycle.
 * The growth rate is the median of the slopes between all pairs of floors (Theil-Sen),
 * with its 95 % rank interval (Kendall's variance). Warm-up and single jumps are
 * distinguished from steady growth, and so is growth that is real but small compared
 * with the amount or its noise: that growth is slow. With fewer than GROWTH_FLOORS_MIN
 * floors there is no result.
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
/* maximum number of windows, which is used if there is no cycle */
#define GROWTH_FLOORS_MAX 24

enum growth_kind {
	GROWTH_TOO_SHORT, /* there are too few windows for a result */
	GROWTH_NONE,	  /* the confidence interval of the rate contains 0 */
	GROWTH_FALLING,	  /* the confidence interval of the rate is below 0 */
	/*
	 * The confidence interval of the rate is above 0, but the rise is below the
	 * thresholds, because the series is short (brief) or although it is long (slow).
	 */
	GROWTH_BRIEF,
	GROWTH_SLOW,
	GROWTH_STEP,	/* grew in one step: most of the growth is one jump */
	GROWTH_PLATEAU, /* grew earlier, but no longer grows */
	GROWTH_STEADY,	/* still grows at the end */
	GROWTH_KIND_COUNT_
};

/* Names of the kinds of growth in machine-readable output. */
extern const char *const growth_kind_names[GROWTH_KIND_COUNT_];

struct growth_point {
	uint64_t time_ns; /* not earlier than the previous point */
	uint64_t bytes;
};

struct growth {
	enum growth_kind kind;
	/*
	 * The number of samples that are missing for a result or, if the work has a cycle
	 * and with GROWTH_BRIEF, the missing time. With GROWTH_TOO_SHORT, both are 0 if
	 * all samples are from the same moment.
	 */
	size_t missing_count;
	uint64_t missing_ns;
	size_t floor_count;
	uint64_t window_ns; /* length of the window whose minimum is one floor */
	uint64_t cycle_ns;  /* length of the work's cycle; 0: no cycle detected */
	/*
	 * Growth rate of the floors per hour, with its bounds; 0 with GROWTH_TOO_SHORT.
	 */
	int64_t rate_bytes, rate_low_bytes, rate_high_bytes;
	uint64_t floor_bytes; /* the amount of the last floor */
	uint64_t tooth_bytes; /* largest amount by which a peak exceeds its floor */
	/* Expected peak of a cycle at the time of the last point, with its bounds. */
	double top_bytes, top_low_bytes, top_high_bytes;
	/* standard deviation of the random growth per window */
	double random_growth_bytes;
	/* length of one step of the grid to which the points were resampled */
	uint64_t step_ns;
};

/* Determine how an amount grows. The points may be unevenly spaced in time. */
void growth_find(const struct growth_point *points, size_t count, struct growth *ret);

#endif
