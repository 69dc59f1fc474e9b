/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_sums - add up the memory of the processes of a run.
 */
#ifndef MS_SAMPLE_RUN_RUN_SUMS_H
#define MS_SAMPLE_RUN_RUN_SUMS_H

#include "model/comparison.h"
#include "model/usage.h"

/* Sums over all processes of a run, and sums over only the processes with known heaps. */
struct run_sums {
	struct run_sample all;
	uint64_t known_rss_bytes;
	/*
	 * Rss of the largest process whose heap is unknown, which
	 * determines all.heap_problem
	 */
	uint64_t unknown_rss_bytes;
	/* total heap memory of all processes with known heaps */
	uint64_t heap_bytes;
	uint64_t pause_ns;
};

/*
 * Add a process to the sums. `problem` is the reason why its heap is unknown, in
 * which case its heap memory counts as anonymous. It is NULL if the last heap walk is
 * recent enough.
 */
void run_sums_add(struct run_sums *sums, const struct usage *u, const char *problem);

/*
 * Finish the sums. If the heaps of too few processes are known, count all heap memory
 * as anonymous.
 */
void run_sums_end(struct run_sums *sums);

#endif
