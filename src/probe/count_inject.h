/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_inject - count by a probe that is put into the process: see agent/count_hooks.h.
 *
 * Places through which malloc and its like are called are made to lead to it, also in
 * libraries that are loaded later, which are looked for when the counts are read. Calls
 * count from when all places lead there. The process does nothing for being read.
 */
#ifndef MS_PROBE_COUNT_INJECT_H
#define MS_PROBE_COUNT_INJECT_H

#include "probe/count_way.h"
#include "probe/probe.h"

extern const struct count_way count_inject_way;

/* What it did to the process so far: stops of one thread, and pauses of all. */
struct count_inject_cost {
	struct probe_cost one;
	unsigned int pauses;
	uint64_t paused_ns;
};

struct count_inject_cost count_inject_cost(const void *state);

#endif
