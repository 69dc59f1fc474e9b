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

/* How full a page is: the used part of the page in per cent. */
enum page_fill {
	FILL_NONE,
	FILL_TO_25, /* more than the previous value, up to 25 % */
	FILL_TO_50,
	FILL_TO_75,
	FILL_TO_99, /* less than 100 % */
	FILL_ALL,
	FILL_COUNT_
};

/* The names of the values: "0%", "1-25%" … */
extern const char *const page_fill_names[FILL_COUNT_];

enum page_fill page_fill_of(uint64_t free_bytes, uint64_t page_bytes);

struct page_sum {
	uint64_t page_count;
	uint64_t free_bytes; /* free bytes on all pages counted in page_count */
};

/*
 * A page counts as fragmented if at least this many of its bytes are free, but not all.
 */
#define FRAGMENTED_FREE_BYTES UINT64_C(2048)

/*
 * How the live blocks of a type pin fragmented pages. Freeing all blocks of the type
 * would free alone_page_count whole pages.
 */
struct heap_pin {
	/* Number of blocks that lie at least partly on fragmented pages. */
	uint64_t block_count;
	struct page_sum pages; /* fragmented pages that contain a block of this type */
	/* Number of fragmented pages on which only blocks of this type are in use. */
	uint64_t alone_page_count;
};

/* The live blocks of one type. Blocks of unknown type are grouped by size. */
struct heap_type {
	char *name; /* NULL: the blocks have the same size and unknown types; owned */
	uint64_t size_bytes; /* size of each block; 0: the sizes differ */
	struct chunk_sum live;
	uint64_t resident_bytes; /* how much of live.bytes is resident */
	struct heap_pin pin;
};

/* The resident pages of an arena, in ascending address order, divided into cells. */
struct heap_strip {
	uint32_t arena; /* index in arenas of struct heap */
	/*
	 * The strip shows the separately mapped blocks of all arenas, not the pages
	 * of one arena.
	 */
	bool is_mapped;
	uint64_t start_addr, end_addr;
	struct page_sum sum;
	/* Number of pages in each cell. The last cell may have fewer. */
	uint64_t pages_per_cell;
	struct page_sum *cells;
	size_t cell_count;
};

#define STRIP_CELLS_MAX 4096

struct heap_detail {
	struct heap_type *types; /* sorted by bytes, largest first */
	size_t type_count;
	/*
	 * Indices of the types that pin pages, in descending order of the number of pages
	 * that become free if all blocks of the type are freed.
	 */
	size_t *pins;
	size_t pin_count;
	struct page_sum fill[FILL_COUNT_];
	struct page_sum fragmented; /* all fragmented pages */
	/* Strips of the arenas that have resident pages, in the order of struct heap. */
	struct heap_strip *strips;
	size_t strip_count;
	/*
	 * Why the types of some or all blocks are unknown; NULL if every
	 * block was checked for a type.
	 */
	const char *problem;
};

#define HEAP_DETAIL_INIT                                                \
	{                                                               \
		NULL, 0, NULL, 0, { { 0, 0 } }, { 0, 0 }, NULL, 0, NULL \
	}

void heap_detail_release(struct heap_detail *detail);

#endif
