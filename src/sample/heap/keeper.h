/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keeper - the heaps of processes over time: walked as often as the budget allows,
 * and carried over to the samples in between.
 *
 * A process is walked again when the time since the start of its last walk is at least
 * 1000 / max_share_per_mille times the cost of that walk. Two costs count: the pause, for
 * the process; and the CPU time of the last walks of all processes, for one CPU. A walk
 * that found nothing doubles the wait, up to 64 times. After the first round, new
 * processes also wait until the CPU time of the last walk is within its share.
 *
 * A heap_walker does the walks, one at a time. A read waits for its walk until its
 * patience has run out, and then returns what is known so far.
 */
#ifndef MS_SAMPLE_HEAP_KEEPER_H
#define MS_SAMPLE_HEAP_KEEPER_H

#include "sample/heap/helpers.h"
#include "sample/heap/walker.h"
#include "sample/process/sampler.h"

struct heap_keeper;

/*
 * The sampler is for reads and must outlive the keeper; walks have their own sampler and
 * procfs. max_pause_ns bounds each pause; a max_share_per_mille of 1000 walks at every
 * read. The patience is unlimited at first.
 */
struct heap_keeper *heap_keeper_new(const struct procfs *fs, struct sampler *sampler,
				    enum heap_stops stops, uint64_t max_pause_ns,
				    unsigned int max_share_per_mille);

/*
 * Query the allocator with each walk from now on, through these helpers. The keeper takes
 * ownership of them.
 */
void heap_keeper_set_helpers(struct heap_keeper *keeper, struct helpers *helpers);

/*
 * Free the keeper. A walk in progress is left to end on its own. With helpers, wait for
 * its end and free the helpers; on_left is passed to helpers_free().
 */
void heap_keeper_free(struct heap_keeper *keeper,
		      void (*on_left)(void *context, int pid, const char *what),
		      void *context);

void heap_keeper_set_patience(struct heap_keeper *keeper, uint64_t patience_ns);

/* The reads that walk the heap. */
enum heap_walks {
	WALKS_BY_SHARE, /* the default */
	WALKS_ALL,  /* every read walks and waits for the walk: for moments that matter */
	WALKS_NONE, /* only carry over what is already known */
};

void heap_keeper_set_walks(struct heap_keeper *keeper, enum heap_walks walks);

/*
 * Like sampler_read_mappings(), with the heap's owners where they are known: fresh from a
 * walk, or carried over. u->heap_* say which of the two, or why the owners are unknown.
 * If they are known and u->heap_error is -EFBIG or -ETIMEDOUT, a pause was too long, and
 * the heap was read while the process ran.
 */
int heap_keeper_read(struct heap_keeper *keeper, struct usage *u,
		     struct mapping_list *ret);

#endif
