/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_sums - add up the memory of the processes of a run.
 */
#ifndef MS_SAMPLE_RUN_RUN_SUMS_H
#define MS_SAMPLE_RUN_RUN_SUMS_H

#include "model/comparison.h"
#include "model/usage.h"

/*
 * The sums over all processes, with separate sums for the processes whose heap is known.
 */
struct run_sums {
	struct run_sample all;
	uint64_t known_rss_bytes;
	/* memory of the owners in the heap, for all processes whose heap is known */
	uint64_t heap_bytes;
	uint64_t pause_ns;
};

/*
 * Add a process. is_known: its heap was walked recently enough. Otherwise the memory of
 * its heap counts as anonymous.
 */
void run_sums_add(struct run_sums *sums, const struct usage *u, bool is_known);

/*
 * Finish the sums. If the heaps of too few processes are known, count the
 * known heaps as anonymous memory too.
 */
void run_sums_end(struct run_sums *sums);

#endif
