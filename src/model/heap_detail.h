/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_detail - what the live blocks of a heap are, how full its pages are, and who keeps
 * the pages that are nearly free. Plain data, made on demand from the blocks of a walk.
 *
 * Bytes of blocks are usable ones, as malloc_usable_size(3) counts them. A page is in use
 * where it is not free: by live blocks, by the allocator's own data, by what is not the
 * heap's. So
 *     sum of fill[].page_count = resident pages with heap memory on them
 *     fill[FILL_NONE].free_bytes = pool_pages, that of all others = pool_fragments
 *     sum of types[].live = all live blocks
 */
#ifndef MS_MODEL_HEAP_DETAIL_H
#define MS_MODEL_HEAP_DETAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/heap.h"

/* How much of a page is in use. */
enum page_fill {
	FILL_NONE,
	FILL_TO_25, /* percent: above that of the one before, to this */
	FILL_TO_50,
	FILL_TO_75,
	FILL_TO_99, /* below 100 */
	FILL_ALL,
	FILL_COUNT_
};

/* "0%", "1-25%" ... */
extern const char *const page_fill_names[FILL_COUNT_];

enum page_fill page_fill_of(uint64_t free_bytes, uint64_t page_bytes);

struct page_sum {
	uint64_t page_count;
	uint64_t free_bytes; /* on them */
};

/* A page is fragmented if so much of it is free, but not all. */
#define FRAGMENTED_FREE_BYTES UINT64_C(2048)

/*
 * What live blocks do to fragmented pages: with the blocks of a type gone,
 * alone_page_count pages would be free as a whole.
 */
struct heap_pin {
	uint64_t block_count; /* that are, in part at least, on fragmented pages */
	struct page_sum pages; /* fragmented, with a block of this type on them */
	uint64_t alone_page_count; /* of these, with nothing else in use on them */
};

/* Live blocks of one type; or of one size, if their type is not known. */
struct heap_type {
	char *name;	     /* NULL: only the size is known */
	uint64_t size_bytes; /* of each block; 0: they differ */
	struct chunk_sum live;
	uint64_t resident_bytes; /* of live.bytes */
	struct heap_pin pin;
};

/* The resident pages of an arena, in order of address. */
struct heap_strip {
	uint32_t arena; /* index in struct heap */
	bool is_mapped; /* instead: the blocks with mappings of their own, of all arenas */
	uint64_t start_addr, end_addr;
	struct page_sum sum;
	/* so many pages each, the last one fewer */
	uint64_t pages_per_cell;
	struct page_sum *cells;
	size_t cell_count;
};

#define STRIP_CELLS_MAX 4096

struct heap_detail {
	struct heap_type *types; /* most bytes first */
	size_t type_count;
	size_t *pins; /* indices of the types that pin pages, those that would set most free first */
	size_t pin_count;
	struct page_sum fill[FILL_COUNT_];
	struct page_sum fragmented; /* of these */
	struct heap_strip *strips;  /* those with pages, in order of arena */
	size_t strip_count;
	/* why blocks are known by size only, or some of them; NULL if they were all asked */
	const char *problem;
};

#define HEAP_DETAIL_INIT                                               \
	{                                                              \
		NULL, 0, NULL, 0, { { 0, 0 } }, { 0, 0 }, NULL, 0, NULL \
	}

void heap_detail_release(struct heap_detail *detail);

#endif
