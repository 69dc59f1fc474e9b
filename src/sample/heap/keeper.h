/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keeper - watch the heaps of processes over time: walk them as often as the budget
 * allows, and carry the results over to the samples in between.
 *
 * A process is walked again when the time since the start of its last walk is at
 * least 1000 / max_share_per_mille times the cost of the last walks of all processes.
 * The cost of a walk is its CPU time, which includes the whole pause of the process; so
 * the share limits both the keeper's load on one CPU and the pauses of each process.
 * Each successive walk that finds nothing doubles the wait, up to 64 times. After the
 * first round, new processes also wait until the cost of the last walk is within its
 * share.
 *
 * A heap_walker does the walks, one at a time. A read waits for its walk until the
 * patience has run out, and then returns what is known so far.
 */
#ifndef MS_SAMPLE_HEAP_KEEPER_H
#define MS_SAMPLE_HEAP_KEEPER_H

#include "sample/heap/helpers.h"
#include "sample/heap/walker.h"
#include "sample/process/sampler.h"

struct heap_keeper;

/*
 * Create a keeper. It takes its samples with the given sampler, which must
 * outlive it; its walks use a sampler and a procfs of their own. max_pause_ns
 * limits each pause. With a max_share_per_mille of 1000, every read walks the
 * heap. Initially the patience is unlimited.
 */
struct heap_keeper *heap_keeper_new(const struct procfs *fs, struct sampler *sampler,
				    enum heap_stops stops, uint64_t max_pause_ns,
				    unsigned int max_share_per_mille);

/*
 * Query the allocator with each walk from now on. The
 * keeper takes ownership of the helpers.
 */
void heap_keeper_set_helpers(struct heap_keeper *keeper, struct helpers *helpers);

/*
 * Free the keeper. Without helpers, a walk in progress is left to end on its
 * own. With helpers, cancel the walk, wait for its end for at most 10 seconds, and free
 * the helpers; on_left is passed to helpers_free(). If the walk hangs, on_left is called
 * for its process, and the helpers are freed when the walk ends.
 */
void heap_keeper_free(struct heap_keeper *keeper,
		      void (*on_left)(void *context, int pid, const char *what),
		      void *context);

void heap_keeper_set_patience(struct heap_keeper *keeper, uint64_t patience_ns);

/* Selects the reads that walk the heap. */
enum heap_walks {
	/* walk as often as the share of time allows; this is the default */
	WALKS_BY_SHARE,
	/*
	 * every read walks the heap and waits until the walk has
	 * ended; for important moments
	 */
	WALKS_ALL,
	WALKS_NONE, /* do not walk any heap; only carry over what is already known */
};

void heap_keeper_set_walks(struct heap_keeper *keeper, enum heap_walks walks);

/*
 * Read the process like sampler_read_mappings(), and add the heap's owners if they are
 * known: fresh from a walk, or carried over. u->heap_* say which of the two, or why the
 * owners are unknown. If the owners are known and u->heap_error is -EFBIG or -ETIMEDOUT,
 * a pause would have been too long, and the heap was read while the process ran.
 */
int heap_keeper_read(struct heap_keeper *keeper, struct usage *u,
		     struct mapping_list *ret);

#endif
