/* SPDX-License-Identifier: GPL-2.0-or-later */
/* request - which process to enter, and what entering it cost. */
#ifndef MS_PROBE_BORROW_REQUEST_H
#define MS_PROBE_BORROW_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "proc/system/procfs.h"

struct probe_request {
	const struct procfs *fs;
	int pid;
	/* from /proc/PID/stat: distinguishes processes that had the same pid */
	uint64_t start_ticks;
	bool may_inject;   /* otherwise only an existing helper is used */
	uint64_t limit_ns; /* how long to wait for a safe moment */
	/* For tests: called before each step that changes the target; otherwise NULL. */
	void (*step)(void *context, const char *name);
	void *context;
	/* For tests: treat any moment as safe, to show that the target then hangs. */
	bool trusts_any_moment;
};

/* The cost of putting something into the process, or of removing it. */
struct probe_cost {
	unsigned int stops;
	uint64_t stopped_ns; /* time that one thread was stopped, over all stops */
	unsigned int tries;
	/* not in the main thread: glibc may have given that thread its own arena */
	bool in_other_thread;
};

#endif
