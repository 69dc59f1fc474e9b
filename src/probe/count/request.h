/* SPDX-License-Identifier: GPL-2.0-or-later */
/* request - the process whose allocations are to be counted, and how to count them. */
#ifndef MS_PROBE_COUNT_REQUEST_H
#define MS_PROBE_COUNT_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "proc/system/procfs.h"

enum count_method {
	COUNT_INJECT, /* count with hooks that memstate injects into the process */
	COUNT_BPF,    /* count with breakpoints at which the kernel runs a BPF program */
	COUNT_PERF,   /* count with breakpoints whose hits the kernel counts */
	COUNT_METHOD_COUNT_,
	COUNT_AUTO = COUNT_METHOD_COUNT_
};

/*
 * The values of the command-line option for the method: "inject", "bpf", "perf", "auto".
 */
extern const char *const count_method_names[COUNT_METHOD_COUNT_ + 1];

struct count_request {
	const struct procfs *fs;
	int pid;
	/*
	 * start time from /proc/PID/stat, which identifies the process even
	 * if its pid is reused
	 */
	uint64_t start_ticks;
	/* the only method to try; COUNT_AUTO to try each method in turn */
	enum count_method method;
	/* true if the caller needs only the counts of calls and of requested bytes */
	bool calls_only;
	bool wants_stacks;
	/*
	 * if stacks are recorded: also record for each stack which of its
	 * blocks are still allocated
	 */
	bool wants_live;
	/*
	 * if stacks are recorded: mean number of bytes per sample; 0 to record each
	 * allocation
	 */
	uint64_t sample_bytes;
	uint64_t limit_ns; /* maximum time to wait for a safe moment to stop a thread */
	/*
	 * For tests: a function that is called before each step that changes the target;
	 * otherwise NULL.
	 */
	void (*step)(void *context, const char *name);
	void *context;
};

#endif
