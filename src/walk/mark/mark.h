/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mark - find which live blocks are still reachable and which have leaked, from a copy
 * of the memory.
 *
 * The mark is conservative: if an aligned word in a root or in a reachable block is an
 * address inside a live block's usable bytes, that block counts as reachable. The word
 * need not be a pointer. For a block reported as leaked, there is no such word anywhere
 * in the scanned memory. A leaked block may count as reachable because of a stale word
 * or by chance.
 */
#ifndef MS_WALK_MARK_MARK_H
#define MS_WALK_MARK_MARK_H

#include "model/heap.h"
#include "model/mapping.h"
#include "walk/blocks/index.h"
#include "walk/mark/roots.h"

/*
 * A callback that shows the progress of a mark, called now and then in the thread that
 * runs the mark. done_bytes never decreases and may be less than total_bytes at the end.
 * If report() returns true, the mark is stopped.
 */
struct mark_progress {
	bool (*report)(void *context, uint64_t done_bytes, uint64_t total_bytes);
	void *context;
};

struct mark_input {
	const struct blocks *blocks;
	const struct root_list *roots; /* ranges of memory where the mark begins */
	const uint64_t *words;	       /* values of registers, which are also roots */
	size_t word_count;
	struct mark_progress progress; /* report: NULL if no progress is shown */
};

/*
 * A direct leak: a leaked block that no other leaked block reaches, or the first block of
 * a ring of leaked blocks that no other leaked block reaches.
 */
struct leak {
	uint64_t addr;
	uint64_t bytes;		   /* usable bytes of the block */
	struct chunk_sum indirect; /* leaked blocks that only this direct leak reaches */
};

struct mark {
	struct block_index index;
	/* One bit for each block: set if the block is not live or is reachable. */
	uint64_t *reached;
	struct chunk_sum live, reachable; /* in usable bytes */
	/*
	 * Sums of the leaks that mark_next_leak() has returned so far. After the last
	 * leak, live = reachable + direct + indirect.
	 */
	struct chunk_sum direct, indirect;
	uint64_t scanned_bytes;
	struct marker *marker; /* NULL: mark_next_leak() has returned all leaks */
};

/*
 * Mark the blocks that the roots reach. Returns 0, or -ECANCELED if the progress callback
 * stopped the mark. The caller releases *ret in both cases. The blocks must be valid
 * until the last call of mark_next_leak().
 *
 * The time is proportional to the size of the roots and live blocks. The memory
 * is proportional to the size of the image (some bits per 16 bytes), plus 8 bytes
 * per direct leak.
 */
int mark_run(const struct mark_input *input, struct mark *ret);

/*
 * Find the next direct leak, in descending address order. In a ring of leaked blocks that
 * no other leaked block reaches, the block with the lowest address is the direct leak.
 * Returns 1; 0 if there are no more leaks; or -ECANCELED.
 */
int mark_next_leak(struct mark *mark, struct leak *ret);
void mark_release(struct mark *mark);

#endif
