/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mark - find which live blocks are still reachable and which have
 * leaked. Reads only the copy.
 *
 * The mark is conservative. Every aligned word in the roots or in a reachable block that
 * is an address inside a live block's usable bytes makes that block reachable, pointer or
 * not. A block reported as leaked therefore has no address of it anywhere in the scanned
 * memory. A reachable block may be so because of a stale word or by chance.
 */
#ifndef MS_WALK_MARK_MARK_H
#define MS_WALK_MARK_MARK_H

#include "model/heap.h"
#include "model/mapping.h"
#include "walk/blocks/index.h"
#include "walk/mark/roots.h"

/*
 * Progress callback for a screen, called now and then in the thread that marks.
 * done_bytes of total_bytes measures the work. It never decreases and may end below the
 * total. Returning true stops the mark.
 */
struct mark_progress {
	bool (*tell)(void *context, uint64_t done_bytes, uint64_t total_bytes);
	void *context;
};

struct mark_input {
	const struct blocks *blocks;
	const struct root_list *roots; /* memory scanned first */
	const uint64_t *words;	       /* roots outside memory: registers */
	size_t word_count;
	struct mark_progress progress; /* tell may be NULL */
};

/*
 * A leaked block that no other leaked block reaches, or the first block of a
 * ring of leaked blocks.
 */
struct leak {
	uint64_t addr;
	uint64_t bytes;		   /* usable */
	struct chunk_sum indirect; /* leaked blocks reachable only through this block */
};

struct mark {
	struct block_index index;
	uint64_t *reached; /* one bit per block: set if not live or reachable */
	struct chunk_sum live, reachable; /* usable bytes */
	/*
	 * The leaks that mark_next_leak() has returned so far. After the last one,
	 * live = reachable + direct + indirect.
	 */
	struct chunk_sum direct, indirect;
	uint64_t scanned_bytes;
	struct marker *marker; /* NULL: all leaks have been returned */
};

/*
 * Mark the blocks that the roots reach. Returns 0, or -ECANCELED if the progress callback
 * stopped it. Release *ret in both cases. The blocks must stay valid until the last call
 * of mark_next_leak(). Time is proportional to the roots and live blocks. Memory is
 * proportional to the image (some bits per 16 bytes) plus 8 bytes per direct leak.
 */
int mark_run(const struct mark_input *input, struct mark *ret);

/*
 * Find the next direct leak, in descending address order. In a ring of leaked blocks that
 * no other leaked block reaches, the first block by address is the direct leak. Returns 1;
 * 0 if there are no more; or -ECANCELED.
 */
int mark_next_leak(struct mark *mark, struct leak *ret);
void mark_release(struct mark *mark);

#endif
