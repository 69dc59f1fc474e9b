/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * comparison - the results of running one command several times under each of
 * several allocators. Plain data.
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
	/* the user's notation, such as "glibc:arena_max=2" or "/opt/lib/libfoo.so" */
	char *name;
	enum allocator allocator;
	/*
	 * Library to preload. The dynamic linker searches its
	 * path for a name without '/'.
	 */
	char *library;
	char **settings; /* environment variables "NAME=VALUE"; a NULL ends the array */
};

/* The memory of a run at one instant, summed over its processes. */
struct run_sample {
	uint64_t elapsed_ns; /* time since the run began */
	uint64_t rss_bytes;
	uint64_t lazyfree_bytes, unbacked_bytes, swap_bytes;
	/*
	 * Resident bytes of each owner; BYTES_UNKNOWN for the heap's owners if the heap
	 * was not read.
	 */
	uint64_t owner_bytes[OWNER_COUNT_];
	enum quality heap_quality;
	/* why the heap's owners are unknown; NULL: they are known. Static. */
	const char *heap_problem;
};

/*
 * The moments of a run that are shown in reports. struct run maps each moment to an
 * index in its samples; SIZE_MAX: there is no such sample.
 */
enum run_moment {
	MOMENT_PEAK,	/* sample with the highest Rss */
	MOMENT_END,	/* end of the workload; without a workload, the last sample */
	MOMENT_SETTLED, /* sample after the --settle time */
	MOMENT_COUNT_
};

struct run {
	size_t variant;	     /* index in variants of struct comparison */
	unsigned int number; /* counted from 1 */
	bool is_warm_up;
	/*
	 * The run was made only to count allocations. Counting changes the times and the
	 * memory of a run.
	 */
	bool is_counting;
	int wait_status; /* wait status of the command, as returned by wait(2) */
	int workload_wait_status;
	/*
	 * Reason why the run is excluded from all figures, or NULL if the run is valid.
	 * The reason is written as a phrase without a full stop. Static.
	 */
	const char *problem;
	/*
	 * Times of the command. With a workload, the times between the workload's start
	 * and its end.
	 */
	uint64_t wall_ns, user_ns, system_ns;
	uint64_t peak_rss_bytes; /* peak Rss as reported by the kernel */
	uint64_t minor_faults, major_faults;
	/*
	 * Number of calls to madvise(2), munmap(2) and similar functions; BYTES_UNKNOWN:
	 * not counted.
	 */
	uint64_t release_call_count;
	uint64_t above_ns; /* how long Rss was above above_bytes of struct comparison */
	struct run_sample *samples;
	size_t sample_count, sample_capacity;
	size_t moments[MOMENT_COUNT_];
};

struct comparison {
	/* Command lines, owned. workload is NULL if there is no workload. */
	char *command, *workload;
	/* Number of runs requested for each variant, without warm-ups. */
	unsigned int runs_each;
	/* The user interrupted the comparison: some runs are missing. */
	bool is_interrupted;
	uint64_t settle_ns; /* time to wait after the workload; 0 without a workload */
	/* Rss threshold for above_ns; BYTES_UNKNOWN: not requested */
	uint64_t above_bytes;
	struct variant *variants;
	size_t variant_count;
	/*
	 * Allocation counts, one element for each variant; unknown where counting
	 * failed. NULL: counting was not requested.
	 */
	struct count_sums *counts;
	struct run *runs; /* the runs, in chronological order */
	size_t run_count, run_capacity;
};

void variant_release(struct variant *variant);
void comparison_release(struct comparison *comparison);

#endif
