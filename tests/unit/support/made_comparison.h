/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made_comparison - made-up comparisons, built run by run.
 */
#ifndef MS_TESTS_MADE_COMPARISON_H
#define MS_TESTS_MADE_COMPARISON_H

#include "model/comparison.h"

void made_init(struct comparison *c, const char *command);

/* Add a variant. Runs that are added later belong to it. */
void made_add_variant(struct comparison *c, const char *name, enum allocator allocator);

/*
 * Add a run without samples to the last variant: 1 s of wall time,
 * 500 ms of CPU time, no faults.
 */
struct run *made_add_run(struct comparison *c);

/* Add a sample whose Rss is all anon: the heap is unknown, all other amounts are 0. */
struct run_sample *made_add_sample(struct run *run, uint64_t elapsed_ms,
				   uint64_t rss_bytes);

/* Set the sample's heap: live_bytes are live, and the rest of Rss is the pool's pages. */
void made_set_live(struct run_sample *sample, uint64_t live_bytes);

/*
 * A run that fills up evenly to `peak` within a second and has `settled` after another
 * second. It gets five samples; peak, end and settled are set. The live_* members are the
 * live part of each Rss, or BYTES_UNKNOWN if the heap is not read.
 */
struct made_run {
	uint64_t half, peak, settled; /* Rss at each point */
	uint64_t live_half, live_peak, live_settled;
};
struct run *made_add_whole_run(struct comparison *c, const struct made_run *figures);

#endif
