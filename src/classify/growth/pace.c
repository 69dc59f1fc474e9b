/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/growth/pace.h"

#include "base/units.h"
#include "model/cgroup.h"

#define SAMPLES_TO_LIMIT 8
/* The growth rate is assumed to be at least 1/100 of the limit per second. */
#define RATE_MIN_PART 100
#define HALF_LIFE_NS (2 * NS_PER_S)
/* Minimum duration in ns over which the growth rate is measured. */
#define WINDOW_NS (20 * NS_PER_MS)
#define WINDOW_LONG_NS NS_PER_S
#define FULL_SHARE_NS (50 * NS_PER_MS)
#define PER_MILLION_OF_MILLE 1000

static const unsigned int step_percents[] = { 80, 90, 95, 98 };
#define STEP_COUNT (sizeof(step_percents) / sizeof(step_percents[0]))
#define STEP_BACK_PERCENT 5

void oom_pace_init(struct oom_pace *pace, uint64_t shortest_ns, uint64_t longest_ns)
{
	*pace = (struct oom_pace){
		.shortest_ns = shortest_ns,
		.longest_ns = longest_ns,
		.interval_ns = longest_ns,
	};
}

/* Return a * b / c, or UINT64_MAX if the result would overflow. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
	unsigned __int128 product = (unsigned __int128)a * b / (c > 0 ? c : 1);

	return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
}

/*
 * Update the growth rate. A jump by a single batch of the kernel's per-CPU memory
 * counters does not count as growth, but a jump by several batches does.
 */
static void update_rate(struct oom_pace *p, const struct oom_pace_sample *s)
{
	uint64_t passed_ns = s->taken_ns - p->from_ns;
	uint64_t grown = bytes_sub(s->need_bytes, p->from_bytes);
	uint64_t rate;

	if (p->from_ns == 0 || grown == 0) {
		rate = 0;
	} else {
		if (passed_ns < WINDOW_NS ||
		    (grown <= s->slack_bytes && passed_ns < WINDOW_LONG_NS))
			return;
		rate = scale(grown, NS_PER_S, passed_ns);
	}
	p->rate_bytes = scale(p->rate_bytes, HALF_LIFE_NS, HALF_LIFE_NS + passed_ns);
	if (rate > p->rate_bytes)
		p->rate_bytes = rate;
	p->from_ns = s->taken_ns;
	p->from_bytes = s->need_bytes;
}

static uint64_t clamp(uint64_t ns, const struct oom_pace *p)
{
	uint64_t max_ns = p->interval_ns < p->longest_ns / 2 ? 2 * p->interval_ns
							     : p->longest_ns;

	if (ns > max_ns)
		ns = max_ns;
	return ns < p->shortest_ns ? p->shortest_ns : ns;
}

uint64_t oom_pace_next(struct oom_pace *p, const struct oom_pace_sample *s)
{
	uint64_t headroom = bytes_sub(s->limit_bytes, s->need_bytes);
	uint64_t rate;

	if (bytes_known(s->need_bytes))
		update_rate(p, s);
	if (s->limit_bytes == CGROUP_NO_LIMIT || !bytes_known(headroom)) {
		p->interval_ns = clamp(p->longest_ns, p);
		return p->interval_ns;
	}
	rate = s->limit_bytes / RATE_MIN_PART;
	if (rate < p->rate_bytes)
		rate = p->rate_bytes;
	p->interval_ns = clamp(scale(headroom, NS_PER_S / SAMPLES_TO_LIMIT, rate), p);
	return p->interval_ns;
}

unsigned int oom_pace_share_per_million(uint64_t interval_ns, unsigned int max_per_mille)
{
	uint64_t max = (uint64_t)max_per_mille * PER_MILLION_OF_MILLE;

	if (interval_ns <= FULL_SHARE_NS)
		return (unsigned int)max;
	return (unsigned int)scale(max, FULL_SHARE_NS, interval_ns);
}

bool oom_steps_pass(struct oom_steps *steps, uint64_t need_bytes, uint64_t limit_bytes)
{
	uint64_t percent = limit_bytes / 100, needed_percent;
	size_t before;

	if (limit_bytes == CGROUP_NO_LIMIT || percent == 0 || !bytes_known(need_bytes))
		return false;
	needed_percent = need_bytes / percent;
	while (steps->passed > 0 &&
	       needed_percent + STEP_BACK_PERCENT < step_percents[steps->passed - 1])
		steps->passed--;
	before = steps->passed;
	while (steps->passed < STEP_COUNT &&
	       needed_percent >= step_percents[steps->passed])
		steps->passed++;
	return steps->passed > before;
}
