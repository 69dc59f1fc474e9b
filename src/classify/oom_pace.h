/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_pace - how soon to look at a group again: the sooner the nearer it is to its limit,
 * and the faster it gets there. Pure.
 *
 *   interval = headroom / (8 * rate), within bounds
 *
 * so that about eight samples are taken, each after less time, on the way to a kill. The
 * rate is the fastest growth of need that was seen, half forgotten after two seconds, and
 * at least 1 % of the limit in a second, so that a group that stands near its limit is
 * looked at more often too. An interval is never more than twice the one before.
 */
#ifndef MS_CLASSIFY_OOM_PACE_H
#define MS_CLASSIFY_OOM_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oom_pace {
	uint64_t shortest_ns, longest_ns;
	uint64_t interval_ns;
	uint64_t rate_bytes;	      /* of growth, in a second */
	uint64_t from_ns, from_bytes; /* what growth is measured from; 0: nothing yet */
};

struct oom_pace_sample {
	uint64_t taken_ns;
	uint64_t need_bytes, limit_bytes; /* as in oom_figures */
	uint64_t slack_bytes;		  /* smaller changes may be none */
};

/* 0 < shortest_ns <= longest_ns. */
void oom_pace_init(struct oom_pace *pace, uint64_t shortest_ns, uint64_t longest_ns);

/* Another sample was taken: when, after it, the next one should be. */
uint64_t oom_pace_next(struct oom_pace *pace, const struct oom_pace_sample *sample);

/*
 * What reading the processes may cost, of a second, where the most is so much: the less the
 * longer the interval, so that a group that is far from its limit costs next to nothing.
 */
unsigned int oom_pace_share_per_million(uint64_t interval_ns,
					unsigned int most_per_mille);

/* 80, 90, 95 and 98 % of the limit, of which so many were passed. All 0: none. */
struct oom_steps {
	size_t passed;
};

/* Whether need has passed another one: each once, until need has been 5 % of the limit below it. */
bool oom_steps_pass(struct oom_steps *steps, uint64_t need_bytes, uint64_t limit_bytes);

#endif
