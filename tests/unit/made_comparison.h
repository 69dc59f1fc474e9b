/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made_comparison - comparisons that are made up, run by run.
 */
#ifndef MS_TESTS_MADE_COMPARISON_H
#define MS_TESTS_MADE_COMPARISON_H

#include "model/comparison.h"

void made_init(struct comparison *c, const char *command);

/* A variant that later runs are of. */
void made_add_variant(struct comparison *c, const char *name, enum allocator allocator);

/* The next run of the last variant; no sample yet. 1 s of wall time, 500 ms of CPU time, no faults. */
struct run *made_add_run(struct comparison *c);

/* A sample where all that is not said is 0, and the heap is not known: Rss is anon. */
struct run_sample *made_add_sample(struct run *run, uint64_t elapsed_ms,
				   uint64_t rss_bytes);

/* The heap of the sample is read: live, and the rest of Rss is the pool's pages. */
void made_set_live(struct run_sample *sample, uint64_t live_bytes);

/*
 * A run that fills up evenly to `peak` in a second, and then has `settled` after another: five samples,
 * peak, end and settled set. Live is what it is of Rss; BYTES_UNKNOWN: the heap is not read.
 */
struct made_run {
	uint64_t half, peak, settled; /* Rss */
	uint64_t live_half, live_peak, live_settled;
};
struct run *made_add_whole_run(struct comparison *c, const struct made_run *figures);

#endif
