/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pace - compute when to sample a cgroup again: the nearer the cgroup is to its limit,
 * and the faster it grows, the sooner. The functions are pure.
 *
 *   interval = headroom / (8 * rate), within bounds
 *
 * About eight samples are therefore taken before a kill, at decreasing intervals. The
 * rate is the fastest growth so far of the cgroup's memory need (memory that cannot be
 * reclaimed). It decays by half every two seconds, but is at least 1 % of the limit per
 * second, so that a cgroup near its limit is sampled more often even if it does not
 * grow. An interval is at most twice the previous interval.
 */
#ifndef MS_CLASSIFY_GROWTH_PACE_H
#define MS_CLASSIFY_GROWTH_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oom_pace {
	uint64_t shortest_ns, longest_ns;
	uint64_t interval_ns;
	/* growth rate of the cgroup's memory need, in bytes per second */
	uint64_t rate_bytes;
	/*
	 * start of the time over which growth is measured (0: not set yet), and memory
	 * need at the start
	 */
	uint64_t from_ns, from_bytes;
};

struct oom_pace_sample {
	uint64_t taken_ns;
	/* memory need and limit of the cgroup, as in struct oom_figures */
	uint64_t need_bytes, limit_bytes;
	uint64_t slack_bytes; /* changes of need_bytes below this amount may be noise */
};

/* Initialise *pace. The caller must ensure 0 < shortest_ns <= longest_ns. */
void oom_pace_init(struct oom_pace *pace, uint64_t shortest_ns, uint64_t longest_ns);

/* Add a sample. Return the time in ns until the next sample is due. */
uint64_t oom_pace_next(struct oom_pace *pace, const struct oom_pace_sample *sample);

/*
 * Return the share of its time that memstate may spend reading processes, in parts per
 * million. The share is at most max_per_mille thousandths. It is smaller for longer
 * sampling intervals, so that monitoring a cgroup far from its limit costs almost
 * nothing.
 */
unsigned int oom_pace_share_per_million(uint64_t interval_ns, unsigned int max_per_mille);

/*
 * The number of thresholds (80, 90, 95 and 98 % of the limit) that the memory need has
 * exceeded. Zero-initialize the struct before use.
 */
struct oom_steps {
	size_t passed;
};

/*
 * Return true if the memory need has just exceeded another threshold. A threshold is
 * reported again only after the memory need has fallen below it by 5 % of the limit.
 */
bool oom_steps_pass(struct oom_steps *steps, uint64_t need_bytes, uint64_t limit_bytes);

#endif
