/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_detail - the types of a heap's live blocks, how full its pages are, and which
 * blocks pin nearly free pages. Plain data, made on demand from the blocks of a walk.
 *
 * Block sizes are usable sizes, as in malloc_usable_size(3). The used part of a page
 * is everything that is not free: live blocks, the allocator's own data, and data
 * outside the heap. Therefore:
 *     sum of fill[].page_count = resident pages with heap memory on them
 *     fill[FILL_NONE].free_bytes = pool_pages; the sum of all others = pool_fragments
 *     sum of types[].live = all live blocks
 */
#ifndef MS_MODEL_HEAP_DETAIL_H
#define MS_MODEL_HEAP_DETAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/heap.h"

/* The used part of a page. */
enum page_fill {
	FILL_NONE,
	FILL_TO_25, /* percent: above the previous value, up to this one */
	FILL_TO_50,
	FILL_TO_75,
	FILL_TO_99, /* below 100 */
	FILL_ALL,
	FILL_COUNT_
};

/* "0%", "1-25%" … */
extern const char *const page_fill_names[FILL_COUNT_];

enum page_fill page_fill_of(uint64_t free_bytes, uint64_t page_bytes);

struct page_sum {
	uint64_t page_count;
	uint64_t free_bytes; /* free bytes on these pages */
};

/* A page counts as fragmented if at least this much of it is free, but not all. */
#define FRAGMENTED_FREE_BYTES UINT64_C(2048)

/*
 * How the live blocks of a type pin fragmented pages. Freeing all blocks of the type
 * would free alone_page_count whole pages.
 */
struct heap_pin {
	uint64_t block_count;  /* blocks that lie at least partly on fragmented pages */
	struct page_sum pages; /* fragmented pages that hold a block of this type */
	/* Those of these pages with nothing else in use on them. */
	uint64_t alone_page_count;
};

/* The live blocks of one type, or of one size if their type is unknown. */
struct heap_type {
	char *name;	     /* NULL: only the size is known; owned */
	uint64_t size_bytes; /* size of each block; 0: sizes differ */
	struct chunk_sum live;
	uint64_t resident_bytes; /* resident part of live.bytes */
	struct heap_pin pin;
};

/* The resident pages of an arena in ascending address order. */
struct heap_strip {
	uint32_t arena; /* index in struct heap */
	bool is_mapped; /* not an arena: the separately mapped blocks of all arenas */
	uint64_t start_addr, end_addr;
	struct page_sum sum;
	/* pages per cell; the last cell may have fewer */
	uint64_t pages_per_cell;
	struct page_sum *cells;
	size_t cell_count;
};

#define STRIP_CELLS_MAX 4096

struct heap_detail {
	struct heap_type *types; /* most bytes first */
	size_t type_count;
	/*
	 * Indices of the types that pin pages, in descending order of the
	 * pages they would free.
	 */
	size_t *pins;
	size_t pin_count;
	struct page_sum fill[FILL_COUNT_];
	struct page_sum fragmented; /* the fragmented ones among the pages in fill */
	struct heap_strip *strips;  /* those with pages, in the order of arenas */
	size_t strip_count;
	/*
	 * Why some or all blocks are known by size only; NULL if every block
	 * was checked for a type.
	 */
	const char *problem;
};

#define HEAP_DETAIL_INIT                                                \
	{                                                               \
		NULL, 0, NULL, 0, { { 0, 0 } }, { 0, 0 }, NULL, 0, NULL \
	}

void heap_detail_release(struct heap_detail *detail);

#endif
