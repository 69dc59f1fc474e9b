/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scan - one thread's part of the search for reachable blocks: scan memory for addresses
 * of blocks, and scan these blocks in turn.
 *
 * Several threads search together (workers.h). They share the bit tables, whose bits they
 * change atomically, so that exactly one thread scans each block. The set of blocks found
 * is therefore the same for any number of threads and in any order.
 */
#ifndef MS_WALK_MARK_SCAN_H
#define MS_WALK_MARK_SCAN_H

#include <stdatomic.h>

#include "model/heap.h"
#include "walk/blocks/index.h"
#include "walk/mark/mark.h"

/*
 * Size of the prefetch ring, a power of two. Words that may be addresses of blocks wait
 * in the ring until the CPU has loaded the memory needed to find and scan the blocks.
 */
#define CANDIDATES 16

/*
 * Value of `extent` in a block_ref that was not looked up in the index. The size of the
 * block is then read from its head.
 */
#define EXTENT_OF_HEAD UINT32_MAX

/*
 * Value of `extent` in a block_ref that represents not a block, but a range of memory to
 * scan, from `addr` to `bit`.
 */
#define EXTENT_OF_RANGE (UINT32_MAX - 1)

/*
 * A range longer than this is scanned in pieces of this size, so that other threads can
 * scan the remainder.
 */
#define PIECE_BYTES (UINT64_C(128) << 10)

struct workers;

/* The state of one thread that searches for reachable blocks. */
struct marker {
	struct workers *workers;
	/* copies of the caller's structs, so that each thread has its own search hints */
	struct image image;
	struct blocks blocks;
	struct block_index index;

	/* shared bit table of the live blocks that were not yet found */
	uint64_t *unseen;
	/* shared bit table of the blocks that were found while a stack was full */
	uint64_t *waiting;
	/*
	 * true if the bit number of a block is the offset of its head in the image, in
	 * units of BLOCK_ALIGN, as in glibc's heaps
	 */
	bool are_bits_places;
	bool has_others;     /* true if several threads are searching */
	bool has_handed_out; /* true if this thread has given work to other threads */
	/* run of the image that contains the block scanned last */
	const struct image_run *run;

	/*
	 * Ring buffer of words that may be addresses of blocks, while the blocks are
	 * being prefetched.
	 */
	uint64_t candidates[CANDIDATES];
	unsigned int first_candidate, candidate_count;
	/* stack of blocks and ranges that were found but not yet scanned */
	struct block_ref *stack;
	size_t depth, capacity;

	struct chunk_sum scanned; /* number and total size of the blocks scanned so far */
	_Atomic uint64_t done_bytes;
};

/*
 * Initialize *m as the state of a thread that searches the given blocks. The caller sets
 * the tables and the stack.
 */
void marker_init(struct marker *m, const struct blocks *blocks,
		 const struct block_index *index);

/* Treat the word as a possible address of a block. */
void marker_visit_word(struct marker *m, uint64_t word);

/*
 * Scan the resident parts of [start, end). If the range is long, scan its first piece and
 * push the remainder onto the stack.
 */
void marker_scan_range(struct marker *m, uint64_t start, uint64_t end);

/* Scan the block, whose bit in `unseen` is clear. */
void marker_scan_block(struct marker *m, struct block_ref *ref);

/*
 * Scan everything on the thread's stack and in its prefetch ring, and all blocks that are
 * reachable from there, except those that other threads take over. Stop early if the
 * search was cancelled.
 */
void marker_drain(struct marker *m);

/*
 * Clear the bit and return whether it was set before. If several threads call this
 * function for the same bit, it returns true to only one of them.
 */
static inline bool marker_take_bit(const struct marker *m, uint64_t *bits, uint64_t bit)
{
	uint64_t mask = UINT64_C(1) << bit % 64;

	if (!(__atomic_load_n(&bits[bit / 64], __ATOMIC_RELAXED) & mask))
		return false;
	if (!m->has_others) {
		bits[bit / 64] &= ~mask;
		return true;
	}
	return __atomic_fetch_and(&bits[bit / 64], ~mask, __ATOMIC_RELAXED) & mask;
}

#endif
