/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inject - count allocations with hooks that memstate injects into the process
 * (agent/count/hooks.h).
 *
 * memstate patches the function addresses and instructions through which malloc and
 * related functions are called, so that they lead to the hooks. Counting starts once all
 * of them are patched. Whenever memstate reads the counts, it also patches newly loaded
 * libraries. Reading the counts does not require the cooperation of the process.
 */
#ifndef MS_PROBE_COUNT_INJECT_H
#define MS_PROBE_COUNT_INJECT_H

#include "probe/count/backend.h"
#include "probe/helper/probe.h"

extern const struct count_backend count_backend_inject;

/*
 * How often, and for how long, counting has stopped the process so far. The member `one`
 * describes the stops of a single thread. `pauses` and `paused_ns` describe the stops of
 * all threads together.
 */
struct count_inject_cost {
	struct probe_cost one;
	unsigned int pauses;
	uint64_t paused_ns;
};

struct count_inject_cost count_inject_cost(const void *state);

#endif
