/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_request - which process to count allocations in, and how.
 */
#ifndef MS_PROBE_COUNT_REQUEST_H
#define MS_PROBE_COUNT_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "proc/procfs.h"

enum count_method {
	COUNT_INJECT, /* a probe that is put into it */
	COUNT_BPF,    /* breakpoints at which the kernel runs a program of ours */
	COUNT_PERF,   /* breakpoints that the kernel counts */
	COUNT_METHOD_COUNT_,
	COUNT_AUTO = COUNT_METHOD_COUNT_
};

/* "inject", "bpf", "perf", "auto": as an option has them. */
extern const char *const count_method_names[COUNT_METHOD_COUNT_ + 1];

struct count_request {
	const struct procfs *fs;
	int pid;
	uint64_t start_ticks; /* of /proc/PID/stat: which process of that number is meant */
	enum count_method method; /* COUNT_AUTO, or the one that is to be tried */
	bool calls_only;	  /* calls and requested bytes are enough */
	bool wants_stacks;
	bool wants_live;       /* with stacks: what of them is still allocated */
	uint64_t sample_bytes; /* with stacks: one per so many; 0: each allocation */
	uint64_t limit_ns;     /* how long a safe moment is waited for */
	/*
	 * For tests: called before each step that changes anything in the target. NULL
	 * otherwise.
	 */
	void (*step)(void *context, const char *name);
	void *context;
};

#endif
