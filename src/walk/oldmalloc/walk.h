/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - declarations shared by the parts of the walker for oldmalloc, the malloc of musl
 * before 1.2.1. Later versions can be built with it. Internal to walk/.
 *
 * Sources: src/malloc/malloc.c of musl 1.1.24 and src/malloc/oldmalloc/ of musl 1.2.5;
 * x86-64.
 *
 * A chunk begins with the size of the chunk before it and its own size; bit 0 of a size
 * is set if that chunk is in use. Sizes are multiples of 32. Chunks fill regions, which
 * begin with a chunk that has no predecessor and end with a chunk of size 0. A region is
 * memory from brk() or mmap(), or memory that musl found unused in the data of a program
 * or library. Free chunks are in 64 rings (bins), whose heads are in musl's data. A large
 * block has a mapping of its own.
 */
#ifndef MS_WALK_OLDMALLOC_WALK_H
#define MS_WALK_OLDMALLOC_WALK_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/input.h"

#define OLDMALLOC_BINS 64
#define OLDMALLOC_BIN_BYTES UINT64_C(24)
#define OLDMALLOC_HEAD_BYTES UINT64_C(16)

/* Sizes of chunks are multiples of this size (SIZE_ALIGN). */
#define OLDMALLOC_ALIGN UINT64_C(32)

/* Bit 0 of a size (C_INUSE). */
#define OLDMALLOC_IN_USE UINT64_C(1)

/* Offsets in struct chunk. */
#define OLDMALLOC_SIZE 8
#define OLDMALLOC_NEXT 16
#define OLDMALLOC_PREV 24

struct oldmalloc_region {
	/* range of the region, including the unused bytes at both ends */
	uint64_t start_addr, end_addr;
	/* address of the first chunk; a mapped block is a single chunk */
	uint64_t first_addr;
	uint64_t last_addr; /* end of the last chunk, where the chunk of size 0 begins */
	bool is_mapped;	    /* true if the region is a block that has its own mapping */
};

struct oldmalloc {
	const struct walk_input *input;
	struct image *image;
	struct heap *heap;
	struct blocks *blocks;

	uint64_t bins_addr; /* 0: not found */
	/* regions, disjoint and in ascending address order */
	struct oldmalloc_region *regions;
	size_t region_count, region_capacity;
	/* total number of chunks, bins and regions that failed a check */
	uint64_t broken_count;
	uint64_t free_count; /* number of free chunks */
	uint64_t bin_count;  /* number of chunks in bins */
	uint64_t budget;     /* number of words that may still be read */
};

/*
 * Deduct `words` from the number of words that may be read. Return false if the budget is
 * exhausted, which can happen if corrupt structures refer to the same memory many times.
 */
static inline bool oldmalloc_spend(struct oldmalloc *m, uint64_t words)
{
	if (m->budget < words)
		return false;
	m->budget -= words;
	return true;
}

/* Return the address of the chunk that the head of a bin represents (BIN_TO_CHUNK). */
static inline uint64_t oldmalloc_bin_chunk(const struct oldmalloc *m, unsigned int bin)
{
	return m->bins_addr + OLDMALLOC_BIN_BYTES * bin + 8 - OLDMALLOC_NEXT;
}

/* Find the bins. Return false if they were not found. Defined in find.c. */
bool oldmalloc_find_bins(struct oldmalloc *m);

/* Find the regions and the blocks with their own mappings. Defined in regions.c. */
void oldmalloc_find_regions(struct oldmalloc *m);

/* Sum the chunks by class, page and mapping, and check the bins. Defined in account.c. */
void oldmalloc_account(struct oldmalloc *m);

/* Like walk_heap(), but walk only the heap of musl's old malloc. */
void walk_oldmalloc(const struct walk_input *input, struct heap *ret,
		    struct blocks *ret_blocks);

#endif
