/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request - which process to count allocations in, and how.
 */
#ifndef MS_PROBE_COUNT_REQUEST_H
#define MS_PROBE_COUNT_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "proc/system/procfs.h"

enum count_method {
	COUNT_INJECT, /* hooks injected into the process */
	COUNT_BPF,    /* breakpoints at which the kernel runs a BPF program */
	COUNT_PERF,   /* breakpoints that the kernel counts */
	COUNT_METHOD_COUNT_,
	COUNT_AUTO = COUNT_METHOD_COUNT_
};

/* "inject", "bpf", "perf", "auto": the values of the option. */
extern const char *const count_method_names[COUNT_METHOD_COUNT_ + 1];

struct count_request {
	const struct procfs *fs;
	int pid;
	/* from /proc/PID/stat: distinguishes processes that had the same pid */
	uint64_t start_ticks;
	enum count_method method; /* COUNT_AUTO, or the only method to try */
	bool calls_only;	  /* calls and requested bytes are sufficient */
	bool wants_stacks;
	bool wants_live; /* with stacks: also what is still allocated */
	/* with stacks: mean bytes per sample; 0: record each allocation */
	uint64_t sample_bytes;
	uint64_t limit_ns; /* how long to wait for a safe moment */
	/* For tests: called before each step that changes the target; otherwise NULL. */
	void (*step)(void *context, const char *name);
	void *context;
};

#endif
