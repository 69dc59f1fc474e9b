/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * comparison - one command run several times under each of several
 * allocators. Plain data.
 */
#ifndef MS_MODEL_COMPARISON_H
#define MS_MODEL_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/count.h"
#include "model/usage.h"

/* An allocator with its settings. All strings are owned. */
struct variant {
	char *name; /* as the user gave it: "glibc:arena_max=2", "/opt/lib/libfoo.so" */
	enum allocator allocator;
	/* Library to preload; the loader searches for a name without '/'. */
	char *library;
	char **settings; /* "NAME=VALUE" for the environment; ends with NULL */
};

/* The memory of a run at one instant, summed over its processes. */
struct run_sample {
	uint64_t elapsed_ns; /* since the run began */
	uint64_t rss_bytes;
	uint64_t lazyfree_bytes, unbacked_bytes, swap_bytes;
	/* BYTES_UNKNOWN where the heap was not read. */
	uint64_t owner_bytes[OWNER_COUNT_];
	enum quality heap_quality;
};

/*
 * The moments of a run that reports show, as indices into its samples.
 * SIZE_MAX: no such sample.
 */
enum run_moment {
	MOMENT_PEAK,	/* highest Rss */
	MOMENT_END,	/* end of the workload, or else the last sample */
	MOMENT_SETTLED, /* after the --settle time */
	MOMENT_COUNT_
};

struct run {
	size_t variant;	     /* index in variants */
	unsigned int number; /* counted from 1 */
	bool is_warm_up;
	/* Made only to count allocations, which costs time and memory. */
	bool is_counting;
	int wait_status; /* exit status of the command */
	int workload_wait_status;
	/*
	 * NULL if the run counts. Otherwise the reason why every figure leaves it out, as
	 * a phrase without a full stop. Static.
	 */
	const char *problem;
	/* Times of the command; with a workload, from the workload's start to its end. */
	uint64_t wall_ns, user_ns, system_ns;
	uint64_t peak_rss_bytes; /* as reported by the kernel */
	uint64_t minor_faults, major_faults;
	/* Calls of madvise(2), munmap(2) and similar; BYTES_UNKNOWN: not counted. */
	uint64_t given_back_count;
	uint64_t above_ns; /* time that Rss was above the limit above_bytes */
	struct run_sample *samples;
	size_t sample_count, sample_capacity;
	size_t moments[MOMENT_COUNT_];
};

struct comparison {
	/* One line each, owned; workload is NULL if there is none. */
	char *command, *workload;
	unsigned int runs_each; /* requested runs of each variant, without warm-ups */
	bool is_interrupted;	/* the user interrupted it: some runs are missing */
	uint64_t settle_ns; /* time to settle after the workload; 0 without a workload */
	uint64_t above_bytes; /* BYTES_UNKNOWN: not requested */
	struct variant *variants;
	size_t variant_count;
	/* Per variant, unknown where counting failed; NULL: not requested. */
	struct count_sums *counts;
	struct run *runs; /* in the order in which they ran */
	size_t run_count, run_capacity;
};

void variant_release(struct variant *variant);
void comparison_release(struct comparison *comparison);

#endif
