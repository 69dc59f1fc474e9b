/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_detail - the types of a heap's live blocks, how full its pages are, and which
 * blocks pin nearly free pages, for each heap of a process. Plain data, computed on
 * demand from the blocks of a walk.
 *
 * Block sizes are usable sizes, as in malloc_usable_size(3). The used part of a page is
 * everything that is not free: live blocks, the allocator's own data, and data outside
 * the heap. Therefore:
 *    sum of fill[].page_count = resident pages that contain heap memory
 *    fill[FILL_NONE].free_bytes = pool_pages; the sum of all others = pool_fragments
 *    sum of types[].live = all live blocks
 *
 * A heap whose figures are unknown has no detail. V8 and HotSpot divide their heaps into
 * regions, in which the walkers find the free memory, but not the individual blocks. The
 * details of these heaps contain neither types nor pins. They contain fill levels and a
 * map only if the quality of the heap is exact. Otherwise, unswept or unread regions
 * would appear to be in use.
 */
#ifndef MS_MODEL_HEAP_DETAIL_H
#define MS_MODEL_HEAP_DETAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/heap.h"
#include "model/heap_objects.h"

/* How full a page is: the used percentage of the page. */
enum page_fill {
	FILL_NONE,
	FILL_TO_25, /* used percentage above 0, up to 25 */
	FILL_TO_50,
	FILL_TO_75,
	FILL_TO_99, /* used percentage above 75, below 100 */
	FILL_ALL,
	FILL_COUNT_
};

/* The names of the fill levels: "0%", "1-25%", … */
extern const char *const page_fill_names[FILL_COUNT_];

enum page_fill page_fill_of(uint64_t free_bytes, uint64_t page_bytes);

struct page_sum {
	uint64_t page_count;
	uint64_t free_bytes; /* free bytes on the pages that page_count counts */
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
	char *name;	     /* name of the type; NULL if it is unknown; owned */
	uint64_t size_bytes; /* size of each block; 0 if the sizes differ */
	struct chunk_sum live;
	uint64_t resident_bytes; /* resident part of live.bytes */
	struct heap_pin pin;
};

/*
 * A strip: the resident pages of one arena in ascending address order, divided into
 * cells. Pages that contain no block, allocated or free, are left out unless one arena
 * contains all blocks of the heap.
 */
struct heap_strip {
	uint32_t arena; /* index of the arena in struct heap */
	/*
	 * True if the strip contains the separately mapped blocks of all arenas instead
	 * of the pages of one arena.
	 */
	bool is_mapped;
	uint64_t start_addr, end_addr;
	struct page_sum sum;
	/* Number of pages in each cell. Only the last cell may have fewer pages. */
	uint64_t pages_per_cell;
	struct page_sum *cells;
	size_t cell_count;
};

#define STRIP_CELLS_MAX 4096

struct heap_detail {
	/* true if fill, fragmented and strips are known */
	bool has_pages;
	/* true if types, pins and problem are known, which requires has_pages */
	bool has_blocks;
	struct heap_type *types; /* types sorted by bytes, largest first */
	size_t type_count;
	/*
	 * Indices of the types that pin pages. The first type is the one whose blocks
	 * alone pin the most pages.
	 */
	size_t *pins;
	size_t pin_count;
	struct page_sum fill[FILL_COUNT_];
	struct page_sum fragmented; /* the sum of all fragmented pages */
	/*
	 * One strip for each arena with resident pages, in the order of the arenas in
	 * struct heap. A strip with the separately mapped blocks follows if they have
	 * resident pages.
	 */
	struct heap_strip *strips;
	size_t strip_count;
	/*
	 * Why the types of some or all blocks are unknown; NULL if memstate could examine
	 * every block.
	 */
	const char *problem;
	/*
	 * The objects in the heaps of language runtimes, one element per heap. Only the
	 * details of the process's first heap have this list.
	 */
	struct heap_objects *objects;
	size_t object_list_count;
	/*
	 * The details of the process's other heaps, in the same order as `others` in
	 * struct heap. Only the details of the process's first heap have this list.
	 */
	struct heap_detail *others;
	size_t other_count;
};

#define HEAP_DETAIL_INIT       \
	{                      \
		.types = NULL, \
	}

/*
 * Return the detail of the heap that heap_at() returns for this index, or NULL if it has
 * none. detail may be NULL.
 */
const struct heap_detail *heap_detail_at(const struct heap_detail *detail, size_t index);

/* Return the objects in the heap of a runtime, or NULL if they were not counted. */
const struct heap_objects *heap_detail_objects(const struct heap_detail *detail,
					       enum allocator allocator);

void heap_detail_release(struct heap_detail *detail);

#endif
