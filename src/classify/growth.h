/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * growth - whether an amount grows with time, and when it will meet a limit. Pure.
 *
 * Memory comes and goes with the work, so it is not the amounts that are compared but
 * their floors: the least of each cycle of the work, or of each part of the time where
 * there is no cycle. The floors' rate is the median of the slopes between any two of them
 * (Theil and Sen), with its 95 % interval by rank (Kendall's variance). What warms up, or
 * jumps once, is told from what grows on; with fewer than GROWTH_FLOORS_MIN floors
 * nothing is said.
 *
 * What this cannot tell: a warm-up slower than the time looked at is growth; the rising
 * half of a day is a plateau; bursts cannot be foreseen.
 */
#ifndef MS_CLASSIFY_GROWTH_H
#define MS_CLASSIFY_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GROWTH_FLOORS_MIN 6
#define GROWTH_FLOORS_MAX 24 /* without a cycle the time is cut into so many parts */

enum growth_kind {
	GROWTH_TOO_SHORT, /* too few cycles to say anything */
	GROWTH_NONE,
	GROWTH_STEP,	/* one jump is most of it */
	GROWTH_PLATEAU, /* it rose, and rises no more */
	GROWTH_STEADY,	/* it grows on */
	GROWTH_KIND_COUNT_
};

/* As a column and a key has them. */
extern const char *const growth_kind_names[GROWTH_KIND_COUNT_];

struct growth_point {
	uint64_t time_ns; /* never less than the one before */
	uint64_t bytes;
};

struct growth {
	enum growth_kind kind;
	size_t floor_count;
	uint64_t window_ns; /* that a floor is of */
	uint64_t cycle_ns;  /* of the work; 0: none was seen */
	/* Of the floors, per hour; all 0 with GROWTH_TOO_SHORT. */
	int64_t rate_bytes, rate_low_bytes, rate_high_bytes;
	uint64_t floor_bytes; /* the last one */
	uint64_t tooth_bytes; /* the most that was above its floor */
	/* The peaks of a cycle, as of the last point: usually, and within which bounds. */
	double top_bytes, top_low_bytes, top_high_bytes;
	double wander_bytes; /* by how much a floor strays from a straight line, per window */
	uint64_t step_ns;    /* the time between two points that were looked at */
};

/* Of any number of points, at any times. */
void growth_find(const struct growth_point *points, size_t count, struct growth *ret);

/* How long until the limit is met. UINT64_MAX: never, at that rate. */
struct growth_time {
	uint64_t ns, soonest_ns, latest_ns;
};

/*
 * When a peak, on a floor that goes on growing, meets the limit: from the last point on. In at
 * least nine of ten cases the true moment lies between soonest_ns and latest_ns, which allow
 * for the rate, the height of peaks, the phase of the cycle and, where growth comes in random
 * steps, for more such steps. False if it does not grow, or that cannot be determined.
 */
bool growth_time_to(const struct growth *growth, uint64_t limit_bytes, struct growth_time *ret);

#endif
