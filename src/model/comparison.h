/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * comparison - one command under several allocators, each run several times. Plain data.
 */
#ifndef MS_MODEL_COMPARISON_H
#define MS_MODEL_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/count.h"
#include "model/usage.h"

/* An allocator with its settings. Texts are owned. */
struct variant {
	char *name; /* as asked for: "glibc:arena_max=2", "/opt/lib/libfoo.so" */
	enum allocator allocator;
	char *library; /* to be preloaded; a name without '/' is for the loader to find */
	char **settings; /* "NAME=VALUE" for its environment, ends with NULL */
};

/* What a run had at one moment: the sum over its processes. */
struct run_sample {
	uint64_t elapsed_ns; /* since the run began */
	uint64_t rss_bytes;
	uint64_t lazyfree_bytes, unbacked_bytes, swap_bytes;
	uint64_t owner_bytes[OWNER_COUNT_]; /* BYTES_UNKNOWN where it was not read */
	enum quality heap_quality;
};

/* The moments of a run that are shown: indices into its samples; SIZE_MAX: there is none. */
enum run_moment {
	MOMENT_PEAK,	/* most Rss */
	MOMENT_END,	/* the work was done: the workload's end, or the last sample */
	MOMENT_SETTLED, /* after --settle */
	MOMENT_COUNT_
};

struct run {
	size_t variant; /* its index */
	unsigned int number; /* 1 … */
	bool is_warm_up;
	bool is_counting; /* made for its allocations to be counted, which takes time and memory */
	int wait_status; /* of the command */
	int workload_wait_status;
	/*
	 * NULL: it counts. Else why it is left out of every figure, in words that end no
	 * sentence. Static.
	 */
	const char *problem;
	/* of the command; with a workload, from that one's start to its end */
	uint64_t wall_ns, user_ns, system_ns;
	uint64_t peak_rss_bytes; /* as the kernel saw it */
	uint64_t minor_faults, major_faults;
	uint64_t given_back_count; /* madvise(2), munmap(2) and their like; BYTES_UNKNOWN: not counted */
	uint64_t above_ns; /* how long Rss was above the limit that was asked for */
	struct run_sample *samples;
	size_t sample_count, sample_capacity;
	size_t moments[MOMENT_COUNT_];
};

struct comparison {
	char *command, *workload; /* as one line each; NULL: no workload */
	unsigned int runs_each; /* that were asked for, of each variant, without the warm-ups */
	bool is_interrupted;	/* by the user: not all of these were made */
	uint64_t settle_ns;	/* after the workload; 0 without one */
	uint64_t above_bytes; /* BYTES_UNKNOWN: not asked for */
	struct variant *variants;
	size_t variant_count;
	struct count_sums *counts; /* of each variant, unknown where it failed; NULL: not asked for */
	struct run *runs; /* in the order in which they were made */
	size_t run_count, run_capacity;
};

void variant_release(struct variant *variant);
void comparison_release(struct comparison *comparison);

#endif
