/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mark - determine from a copy of the memory which live blocks are still reachable and
 * which have leaked.
 *
 * The search, called mark, is conservative: a block counts as reachable if an aligned
 * word in a root or in a reachable block is an address inside the block's usable bytes.
 * The word need not be a pointer. For a block reported as leaked, there is no such word
 * anywhere in the scanned memory. Conversely, a stale or coincidental word may make a
 * leaked block count as reachable.
 */
#ifndef MS_WALK_MARK_MARK_H
#define MS_WALK_MARK_MARK_H

#include "model/heap.h"
#include "model/mapping.h"
#include "walk/blocks/index.h"
#include "walk/mark/roots.h"

/* Maximum number of threads that search together. */
#define MARK_THREADS_MAX 8

/*
 * A callback that reports the progress of the search for leaks. mark_run() and
 * mark_next_leak() call report() from time to time, in the thread that called them.
 * done_bytes never decreases. It may still be less than total_bytes when the search ends.
 * If report() returns true, the search stops.
 */
struct mark_progress {
	bool (*report)(void *context, uint64_t done_bytes, uint64_t total_bytes);
	void *context;
};

struct mark_input {
	const struct blocks *blocks;
	/* memory ranges from which the search for reachable blocks begins */
	const struct root_list *roots;
	const uint64_t *words; /* register values, which are also roots */
	size_t word_count;
	/* progress callback; report is NULL if the caller needs no progress */
	struct mark_progress progress;
	/*
	 * number of threads that search, including the calling thread; at most
	 * MARK_THREADS_MAX; 0 means 1. The result is the same for any number.
	 */
	unsigned int thread_count;
};

/*
 * A direct leak: a leaked block to which no other leaked block points, or the first block
 * of a cycle of leaked blocks to which no block outside the cycle points.
 */
struct leak {
	uint64_t addr;
	uint64_t bytes; /* usable bytes of the block */
	/* leaked blocks that are reachable only through this direct leak */
	struct chunk_sum indirect;
};

struct mark {
	struct block_index index;
	/* Bit table. A bit is set if the block is reachable or is not live. */
	uint64_t *reached;
	/* count and total usable size of the live blocks, and of the reachable blocks */
	struct chunk_sum live, reachable;
	/*
	 * Sums of the leaks that mark_next_leak() has returned so far. After the last
	 * leak, live = reachable + direct + indirect.
	 */
	struct chunk_sum direct, indirect;
	uint64_t scanned_bytes;
	struct mark_search
		*search; /* NULL once mark_next_leak() has returned all leaks */
};

/*
 * Mark the blocks that are reachable from the roots. Return 0, or -ECANCELED if the
 * progress callback stopped the search. The caller releases *ret in both cases. The
 * blocks must be valid until the last call of mark_next_leak().
 *
 * The time is proportional to the size of the roots and live blocks. The memory is
 * proportional to the size of the image (some bits per 16 bytes), plus 8 bytes per direct
 * leak.
 */
int mark_run(const struct mark_input *input, struct mark *ret);

/*
 * Find the next direct leak, in descending address order. In a cycle of leaked blocks to
 * which no block outside the cycle points, the direct leak is the block with the lowest
 * address. Return 1 if a leak was found, 0 if there are no more leaks, or -ECANCELED if
 * the progress callback stopped the search.
 */
int mark_next_leak(struct mark *mark, struct leak *ret);
void mark_release(struct mark *mark);

#endif
