/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pace - compute when to sample a cgroup again: the nearer the cgroup is to its limit,
 * and the faster it grows, the sooner. Pure.
 *
 *   interval = headroom / (8 * rate), within bounds
 *
 * About eight samples are therefore taken on the way to a kill, at decreasing
 * intervals. The rate is the fastest growth of the memory need so far, halved every two
 * seconds. The rate is at least 1 % of the limit per second, so that a cgroup near its
 * limit is sampled more often even if it does not grow. An interval is at most twice
 * the previous one.
 */
#ifndef MS_CLASSIFY_GROWTH_PACE_H
#define MS_CLASSIFY_GROWTH_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oom_pace {
	uint64_t shortest_ns, longest_ns;
	uint64_t interval_ns;
	uint64_t rate_bytes; /* growth of the memory need, in bytes per second */
	/* time and need from which growth is measured; time 0: not yet set */
	uint64_t from_ns, from_bytes;
};

struct oom_pace_sample {
	uint64_t taken_ns;
	/* memory need and limit of the cgroup, as in struct oom_figures */
	uint64_t need_bytes, limit_bytes;
	uint64_t slack_bytes; /* a smaller change of the memory need may be noise */
};

/* Initialise *pace. Requires 0 < shortest_ns <= longest_ns. */
void oom_pace_init(struct oom_pace *pace, uint64_t shortest_ns, uint64_t longest_ns);

/* Add a sample. Returns the time until the next sample in ns. */
uint64_t oom_pace_next(struct oom_pace *pace, const struct oom_pace_sample *sample);

/*
 * Return the share of time that reading the processes may take, in parts per million,
 * and at most max_per_mille. The longer the interval, the smaller the share, so that a
 * group far from its limit costs almost nothing.
 */
unsigned int oom_pace_share_per_million(uint64_t interval_ns, unsigned int max_per_mille);

/*
 * Number of steps (80, 90, 95 and 98 % of the limit) that the memory need has passed.
 * Initialise with 0.
 */
struct oom_steps {
	size_t passed;
};

/*
 * Return true if the memory need has passed another step. The same step is reported again
 * only after the memory need has fallen below the step by 5 % of the limit.
 */
bool oom_steps_pass(struct oom_steps *steps, uint64_t need_bytes, uint64_t limit_bytes);

#endif
