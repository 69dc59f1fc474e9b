/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keeper - watch the heaps of processes over time: walk the heaps as often as the budget
 * allows, and use the results for the samples between two walks.
 *
 * A process is walked again when the time since the start of its last walk is at least
 * 1000 / max_share_per_mille times the cost of the last walks of all processes. The cost
 * of a walk is its CPU time, which includes the whole pause of the process; so the share
 * limits both the keeper's load on one CPU and the pauses of each process. Each
 * successive walk without findings doubles the wait, up to a factor of 64. After the
 * first round, the walk of a new process also waits until the share of time allows it.
 *
 * A heap_walker does the walks, one at a time. A read waits for its walk until a timeout
 * (the patience), and then returns what is known so far.
 */
#ifndef MS_SAMPLE_HEAP_KEEPER_H
#define MS_SAMPLE_HEAP_KEEPER_H

#include "sample/heap/helpers.h"
#include "sample/heap/walker.h"
#include "sample/process/sampler.h"

struct heap_keeper;

/*
 * Create a keeper. The given sampler takes its samples and must outlive the keeper; heap
 * walks use a separate sampler and procfs. max_pause_ns limits each pause of a process.
 * If max_share_per_mille is 1000, every read walks the heap. Initially a read waits for
 * its heap walk without a timeout.
 */
struct heap_keeper *heap_keeper_new(const struct procfs *fs, struct sampler *sampler,
				    enum heap_stops stops, uint64_t max_pause_ns,
				    unsigned int max_share_per_mille);

/*
 * From now on, query the allocator at each heap walk. The keeper takes
 * ownership of the helpers.
 */
void heap_keeper_set_helpers(struct heap_keeper *keeper, struct helpers *helpers);

/*
 * Free the keeper. Without helpers, a running heap walk is left to end in the background.
 * With helpers, cancel the walk, wait at most 10 seconds for its end, and free the
 * helpers; on_left is passed to helpers_free(). If the walk hangs, call on_left for its
 * process; the helpers are then freed when the walk ends.
 */
void heap_keeper_free(struct heap_keeper *keeper,
		      void (*on_left)(void *context, int pid, const char *what),
		      void *context);

/* Permit copying heaps while their processes run. Initially this is not permitted. */
void heap_keeper_set_pre_copy(struct heap_keeper *keeper, enum pre_copy pre_copy);

/*
 * Permit keeping, until the next heap walk, the copies that are made while processes run.
 * Until then, memstate continues to track the writes of these processes. Initially this
 * is not permitted.
 */
void heap_keeper_set_keeps_copies(struct heap_keeper *keeper, bool keeps_copies);

void heap_keeper_set_patience(struct heap_keeper *keeper, uint64_t patience_ns);

/* Determines which reads walk the heap. */
enum heap_walks {
	/* walk the heap as often as the share of time allows (the default) */
	WALKS_BY_SHARE,
	/*
	 * Every read walks the heap and waits for the end of the walk. Intended for
	 * samples that must contain current heap figures.
	 */
	WALKS_ALL,
	WALKS_NONE, /* do not walk any heap; only reuse earlier results */
};

void heap_keeper_set_walks(struct heap_keeper *keeper, enum heap_walks walks);

/*
 * Read the process like sampler_read_mappings(). If a new or an earlier heap walk has
 * assigned its heap memory to owners, add these owners to *u. The members u->heap_*
 * describe where the owners come from, or why they are unknown. If the owners are known
 * although u->heap_error is -EFBIG or -ETIMEDOUT, the heap was read while the process was
 * running, because a pause would have been too long.
 */
int heap_keeper_read(struct heap_keeper *keeper, struct usage *u,
		     struct mapping_list *ret);

#endif
