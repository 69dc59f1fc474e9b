/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * comparison - the results of running one command several times under several allocators.
 * Plain data.
 */
#ifndef MS_MODEL_COMPARISON_H
#define MS_MODEL_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/count.h"
#include "model/usage.h"

/* An allocator and its settings. The struct owns all strings. */
struct variant {
	/*
	 * the variant in the notation of the command line, such as "glibc:arena_max=2" or
	 * "/opt/lib/libfoo.so"
	 */
	char *name;
	enum allocator allocator;
	/*
	 * Name of the library to preload. The dynamic linker searches its path for a name
	 * without '/'.
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
	 * Resident bytes of each owner. The amounts up to OWNER_HEAP_LAST are
	 * BYTES_UNKNOWN if memstate did not read the heap.
	 */
	uint64_t owner_bytes[OWNER_COUNT_];
	enum quality heap_quality;
	/*
	 * string constant that explains why the amounts up to OWNER_HEAP_LAST are
	 * unknown; NULL if they are known
	 */
	const char *heap_problem;
};

/*
 * The moments of a run for which reports show figures. struct run maps each moment to an
 * index in its samples, or to SIZE_MAX if there is no sample for the moment.
 */
enum run_moment {
	MOMENT_PEAK, /* sample with the highest Rss */
	/* end of the workload, or the last sample if there is no workload */
	MOMENT_END,
	MOMENT_SETTLED, /* sample taken when the --settle time has passed */
	MOMENT_COUNT_
};

struct run {
	size_t variant;	     /* index of the run's variant in struct comparison */
	unsigned int number; /* number of the run, counted from 1 */
	bool is_warm_up;
	/*
	 * True if the run serves only to count allocations. Its times and memory are not
	 * comparable to those of other runs, because counting changes them.
	 */
	bool is_counting;
	int wait_status; /* wait status of the command, as returned by wait(2) */
	int workload_wait_status;
	/*
	 * Reason why the run is excluded from all figures, or NULL if the run is valid: a
	 * static phrase without a full stop.
	 */
	const char *problem;
	/*
	 * Times of the command. With a workload, they cover only the time from the start
	 * to the end of the workload.
	 */
	uint64_t wall_ns, user_ns, system_ns;
	uint64_t peak_rss_bytes; /* peak Rss as reported by the kernel */
	uint64_t minor_faults, major_faults;
	/*
	 * Number of calls to madvise(2), munmap(2) and similar functions; BYTES_UNKNOWN
	 * if not counted.
	 */
	uint64_t release_call_count;
	/* how long Rss was above the threshold above_bytes in struct comparison */
	uint64_t above_ns;
	struct run_sample *samples;
	size_t sample_count, sample_capacity;
	size_t moments[MOMENT_COUNT_];
};

struct comparison {
	/* Command lines, owned. workload is NULL if there is no workload. */
	char *command, *workload;
	/* Number of runs requested for each variant, without warm-ups. */
	unsigned int runs_each;
	/* True if the user interrupted the comparison, so some runs are missing. */
	bool is_interrupted;
	/* time to wait after the workload; 0 if there is no workload */
	uint64_t settle_ns;
	/*
	 * Rss threshold for above_ns in struct run; BYTES_UNKNOWN if the user gave none
	 */
	uint64_t above_bytes;
	struct variant *variants;
	size_t variant_count;
	/*
	 * Allocation counts, one element for each variant. NULL if counting was not
	 * requested; counts are unknown if counting failed.
	 */
	struct count_sums *counts;
	struct run *runs; /* runs in chronological order */
	size_t run_count, run_capacity;
};

void variant_release(struct variant *variant);
void comparison_release(struct comparison *comparison);

#endif
