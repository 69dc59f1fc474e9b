/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request - which process to enter, and what entering it cost.
 */
#ifndef MS_PROBE_REQUEST_H
#define MS_PROBE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "proc/procfs.h"

struct probe_request {
	const struct procfs *fs;
	int pid;
	uint64_t start_ticks; /* of /proc/PID/stat: which process of that number is meant */
	bool may_inject;      /* else only a helper that is there already is used */
	uint64_t limit_ns;    /* how long a safe moment is waited for */
	/*
	 * For tests: called before each step that changes anything in the target. NULL
	 * otherwise.
	 */
	void (*step)(void *context, const char *name);
	void *context;
	/*
	 * For tests too: any moment is taken for a safe one, to show that the target then
	 * hangs.
	 */
	bool trusts_any_moment;
};

/* What putting it in, or taking it out, did to the process. */
struct probe_cost {
	unsigned int stops;
	uint64_t stopped_ns; /* one thread, all stops together */
	unsigned int tries;
	bool in_other_thread; /* not in the main one: glibc may have given that thread an arena of its own */
};

#endif
