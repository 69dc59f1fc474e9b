/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - declarations shared by the parts of the walker for pymalloc, which allocates
 * Python objects of up to 512 bytes. Internal to walk/.
 *
 * Sources: Objects/obmalloc.c and Include/internal/pycore_obmalloc.h of CPython 3.6 to
 * 3.13; x86-64.
 *
 * An arena is a mapping of 64 pools. A pool has a head of 48 bytes and blocks of one size
 * class. usedpools[], in the data of Python, has for each class the ring of the pools that
 * have both allocated and free blocks. The array `arenas` describes each arena; the head
 * of a pool has the index of its arena in that array.
 */
#ifndef MS_WALK_PYMALLOC_WALK_H
#define MS_WALK_PYMALLOC_WALK_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/data_area.h"
#include "walk/blocks/input.h"

#define PYMALLOC_POOLS 64      /* pools in an arena, one less if it is not aligned */
#define PYMALLOC_HEAD_BYTES 48 /* head of a pool */
#define PYMALLOC_CLASSES_MAX 64
#define PYMALLOC_BLOCK_MAX 512 /* size of the blocks in the largest class */

/* The sizes that differ between versions of Python. */
struct pymalloc_layout {
	uint64_t pool_bytes;  /* 4 KiB up to Python 3.9, then 16 KiB */
	uint64_t arena_bytes; /* 64 pools */
	unsigned int class_count;
	uint64_t step_bytes; /* difference between the sizes of two classes: 8 or 16 */
};

/* The allocator of one interpreter. */
struct pymalloc_state {
	uint64_t used_addr;   /* address of usedpools[] */
	uint64_t arenas_addr; /* address of the array `arenas` */
	struct pymalloc_layout layout;
};

/* struct arena_object, for an arena that exists. */
struct pymalloc_arena {
	const struct pymalloc_state *state;
	uint32_t index;	      /* in the array `arenas` */
	uint64_t addr;	      /* start of the mapping */
	uint64_t first_addr;  /* first pool */
	uint64_t carved_addr; /* pools from here on have never been used */
	uint64_t end_addr;    /* end of the last pool */
	uint64_t free_mask;   /* bit n: pool n is in the list of free pools */
	uint64_t first_bit;   /* bit of the arena's first block in struct blocks */
	bool is_broken;	      /* a check failed: the arena does not count */
};

#define PYMALLOC_STATES_MAX 16

struct pymalloc {
	const struct walk_input *input;
	struct image *image;
	struct heap *heap;
	struct blocks *blocks;

	struct pymalloc_state states[PYMALLOC_STATES_MAX];
	size_t state_count;
	struct pymalloc_arena *arenas; /* in ascending order of addr */
	size_t arena_count, arena_capacity;
	uint64_t bit_count;
	uint64_t broken_count; /* arenas and pools that failed a check */
};

/* The head of a pool: struct pool_header. */
struct pymalloc_pool {
	uint32_t live_count; /* ref.count: allocated blocks */
	uint64_t free_addr;  /* freeblock: first block in the list of freed blocks */
	uint64_t next_addr, prev_addr;
	uint32_t arena_index;
	uint32_t class;	      /* szidx */
	uint32_t next_offset; /* blocks from here on have never been used */
};

/* Read the head of a pool. Returns false if it is not resident. */
bool pymalloc_read_pool(struct image *image, uint64_t addr, struct pymalloc_pool *ret);

/* Return the size of the blocks of a class, in bytes. */
static inline uint64_t pymalloc_class_bytes(const struct pymalloc_layout *layout,
					    uint32_t class)
{
	return (class + 1) * layout->step_bytes;
}

/* Find the allocators. Returns NULL, or a static description of the problem. (find.c) */
const char *pymalloc_find(struct pymalloc *p);

/* Read and check the arenas of all allocators. (arenas.c) */
void pymalloc_read_arenas(struct pymalloc *p);

/* Sum the pools by class, page and mapping, and add their extents. (account.c) */
void pymalloc_account(struct pymalloc *p);

/* Do what walk_heap() does, for the objects of CPython 3.6 to 3.13 only. */
void walk_pymalloc(const struct walk_input *input, struct heap *ret,
		   struct blocks *ret_blocks);

#endif
