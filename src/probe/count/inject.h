/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inject - count with hooks that are injected into the process (agent/count/hooks.h).
 *
 * The addresses and instructions through which malloc and related functions are called
 * are patched to lead to the hooks. Whenever the counts are read, memstate also patches
 * newly loaded libraries. Counting starts once all of them are patched. Reading the
 * counts needs no cooperation of the process.
 */
#ifndef MS_PROBE_COUNT_INJECT_H
#define MS_PROBE_COUNT_INJECT_H

#include "probe/count/backend.h"
#include "probe/helper/probe.h"

extern const struct count_backend count_backend_inject;

/*
 * The cost to the process of counting so far. `one` covers the stops of one thread;
 * pauses is the number of stops of all threads.
 */
struct count_inject_cost {
	struct probe_cost one;
	unsigned int pauses;
	uint64_t paused_ns;
};

struct count_inject_cost count_inject_cost(const void *state);

#endif
