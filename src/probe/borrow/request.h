/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request - the parameters for borrowing a thread of a process or injecting code into it,
 * and the cost to the process.
 */
#ifndef MS_PROBE_BORROW_REQUEST_H
#define MS_PROBE_BORROW_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "proc/system/procfs.h"

struct probe_request {
	const struct procfs *fs;
	int pid;
	/*
	 * start time from /proc/PID/stat, which identifies the process even if its pid
	 * is reused
	 */
	uint64_t start_ticks;
	/*
	 * true if memstate may inject a helper; false if it may only use
	 * an existing helper
	 */
	bool may_inject;
	uint64_t limit_ns; /* maximum time to wait for a safe moment to stop a thread */
	/*
	 * time limit for stopping all threads, for operations that stop them all; 0 for
	 * the default
	 */
	uint64_t hold_limit_ns;
	/*
	 * For tests: a function called before each step that changes the target;
	 * otherwise NULL.
	 */
	void (*step)(void *context, const char *name);
	void *context;
	/*
	 * For tests: true to treat every moment as safe, to demonstrate that the target
	 * would then hang.
	 */
	bool trusts_any_moment;
};

/* The cost to the process of injecting or removing code. */
struct probe_cost {
	unsigned int stops;
	uint64_t stopped_ns; /* total time for which a thread was stopped */
	unsigned int tries;
	/*
	 * true if memstate has used a thread other than the main thread; glibc may have
	 * created an arena for that thread
	 */
	bool in_other_thread;
};

#endif
