/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - declarations shared by the parts of the walker for pymalloc, which allocates
 * Python objects of up to 512 bytes. Internal to walk/.
 *
 * Sources: Objects/obmalloc.c and Include/internal/pycore_obmalloc.h of CPython 3.6 to
 * 3.13; x86-64.
 *
 * An arena is a mapping of 64 pools. A pool has a header of 48 bytes and blocks of one
 * size class. The array usedpools[], in the static data of Python, contains a circular
 * list for each class, with the pools that have both allocated and free blocks. The array
 * `arenas` describes each arena; the header of a pool contains the index of the pool's
 * arena in that array.
 */
#ifndef MS_WALK_PYMALLOC_WALK_H
#define MS_WALK_PYMALLOC_WALK_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/data_area.h"
#include "walk/blocks/input.h"

/* number of pools in an aligned arena; other arenas have one pool fewer */
#define PYMALLOC_POOLS 64
#define PYMALLOC_HEAD_BYTES 48 /* size of a pool header */
#define PYMALLOC_CLASSES_MAX 64
#define PYMALLOC_BLOCK_MAX 512 /* size of the blocks in the largest class */

/* The sizes that depend on the version of Python. */
struct pymalloc_layout {
	uint64_t pool_bytes;  /* size of a pool: 4096 up to Python 3.9, then 16384 */
	uint64_t arena_bytes; /* size of an arena, which has 64 pools */
	unsigned int class_count;
	/* difference between the block sizes of adjacent classes: 8 or 16 */
	uint64_t step_bytes;
};

/* The allocator of one interpreter. */
struct pymalloc_state {
	uint64_t used_addr;   /* address of usedpools[] */
	uint64_t arenas_addr; /* address of the array `arenas` */
	struct pymalloc_layout layout;
};

/* An arena that exists, as described by a struct arena_object. */
struct pymalloc_arena {
	const struct pymalloc_state *state;
	uint32_t index;	      /* index of the arena in Python's array `arenas` */
	uint64_t addr;	      /* start of the mapping */
	uint64_t first_addr;  /* first pool */
	uint64_t carved_addr; /* start of the pools that were never used */
	uint64_t end_addr;    /* end of the last pool */
	uint64_t free_mask;   /* bit n is set if pool n is in the list of free pools */
	/* the bit of the arena's first block in the bit tables of struct blocks */
	uint64_t first_bit;
	bool is_broken; /* true if the arena failed a check; it is then not counted */
	/*
	 * true if free_mask is incomplete, because the list continues in swapped-out
	 * memory
	 */
	bool is_list_cut;
};

#define PYMALLOC_STATES_MAX 16

struct pymalloc {
	const struct walk_input *input;
	struct image *image;
	struct heap *heap;
	struct blocks *blocks;

	struct pymalloc_state states[PYMALLOC_STATES_MAX];
	size_t state_count;
	struct pymalloc_arena *arenas; /* arenas in ascending address order */
	size_t arena_count, arena_capacity;
	uint64_t bit_count;
	uint64_t broken_count; /* number of arenas and pools that failed a check */
	/* number of pools that are not counted because part of them is swapped out */
	uint64_t absent_count;
	bool may_lack_arena; /* true if part of the array `arenas` may be swapped out */
};

/* The header of a pool: struct pool_header. */
struct pymalloc_pool {
	uint32_t live_count; /* number of allocated blocks (ref.count) */
	uint64_t free_addr;  /* first block in the list of freed blocks (freeblock) */
	uint64_t next_addr, prev_addr;
	uint32_t arena_index;
	uint32_t class; /* size class (szidx) */
	/* offset in the pool of the first block that was never allocated */
	uint32_t next_offset;
};

/* Read the header of the pool at addr. Return false if the header is not resident. */
bool pymalloc_read_pool(struct image *image, uint64_t addr, struct pymalloc_pool *ret);

/* Return the size of the blocks of a class, in bytes. */
static inline uint64_t pymalloc_class_bytes(const struct pymalloc_layout *layout,
					    uint32_t class)
{
	return (class + 1) * layout->step_bytes;
}

/*
 * Find the allocators of all interpreters. Return NULL on success, or a static string
 * that describes the problem. Defined in find.c.
 */
const char *pymalloc_find(struct pymalloc *p);

/* Read and check the arenas of all allocators. Defined in arenas.c. */
void pymalloc_read_arenas(struct pymalloc *p);

/*
 * Sum the pools by class, page and mapping, and append their extents to p->blocks.
 * Defined in account.c.
 */
void pymalloc_account(struct pymalloc *p);

/*
 * Like walk_heap(), but walk only the heap in which CPython 3.6 to 3.13 allocates
 * objects.
 */
void walk_pymalloc(const struct walk_input *input, struct heap *ret,
		   struct blocks *ret_blocks);

#endif
