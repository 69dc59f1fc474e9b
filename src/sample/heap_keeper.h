/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_keeper - the heaps of processes over time: walked as often as that may cost,
 * carried over to the samples in between.
 *
 * A process is walked again when the time since its last walk began is at least 1000 /
 * max_share_per_mille times what that cost: the pause, of the process's time, and of one
 * CPU the work of all processes' last walks. A walk that found nothing makes the wait
 * twice as long, up to 64 times. After the first round, processes that are new wait too
 * until the last walk's CPU time is its share.
 *
 * Walks are done by a thread of their own, one at a time: a read waits for it, but not
 * longer than it has patience, and then gives what is known so far.
 */
#ifndef MS_SAMPLE_HEAP_KEEPER_H
#define MS_SAMPLE_HEAP_KEEPER_H

#include "sample/helpers.h"
#include "sample/sampler.h"

struct heap_keeper;

enum heap_stops {
	STOPS_SHORT, /* where a stop would be too long the heap is not read */
	STOPS_SHORT_OR_NONE, /* it is then read while the process runs, and is approximate */
	STOPS_NONE,
};

/*
 * The sampler, which must outlive it, is for reads; walks have one, and a procfs, of
 * their own. max_pause_ns bounds each stop; a max_share_per_mille of 1000 walks at every
 * read. Patience is endless at first.
 */
struct heap_keeper *heap_keeper_new(const struct procfs *fs, struct sampler *sampler,
				    enum heap_stops stops, uint64_t max_pause_ns,
				    unsigned int max_share_per_mille);

/*
 * From now on the allocator is asked with each walk, through these, which are the
 * keeper's from now on.
 */
void heap_keeper_set_helpers(struct heap_keeper *keeper, struct helpers *helpers);

/*
 * A walk that is under way is left to end by itself; but with helpers its end is waited
 * for, and they are freed: on_left as helpers_free() has it.
 */
void heap_keeper_free(struct heap_keeper *keeper,
		      void (*on_left)(void *context, int pid, const char *what), void *context);

void heap_keeper_set_patience(struct heap_keeper *keeper, uint64_t patience_ns);

/* Which reads are walks. */
enum heap_walks {
	WALKS_BY_SHARE, /* at first */
	WALKS_ALL,	/* each, and it waits for it: for moments that matter */
	WALKS_NONE,	/* only what is known already is carried over */
};

void heap_keeper_set_walks(struct heap_keeper *keeper, enum heap_walks walks);

/*
 * As sampler_read_mappings(), with the heap's owners where they are known: fresh, of the
 * moment of a walk, or carried over. u->heap_* say which, and why not where they are
 * unknown. Where they are known and u->heap_error is -EFBIG or -ETIMEDOUT, they were read
 * while the process ran, and that is why.
 */
int heap_keeper_read(struct heap_keeper *keeper, struct usage *u, struct mapping_list *ret);

#endif
