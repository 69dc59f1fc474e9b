/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - declarations shared by the parts of the walker for mimalloc. Internal to walk/.
 *
 * Sources: include/mimalloc/types.h (before 2.1: include/mimalloc-types.h), segment.c,
 * page.c, heap.c, page-map.c and arena.c of mimalloc 2.0 to 2.4 and 3.0 to 3.4; x86-64.
 *
 * mimalloc divides its memory into slices of 65536 bytes. A page, which mimalloc also
 * calls a span, consists of adjacent slices and contains blocks of one size. struct
 * mi_page_s describes it and has three lists of free blocks. Each free block begins with
 * the address of the next, which secure builds encode with two keys of the page.
 *
 * Version 2 takes slices from segments of 32 MiB or more. A segment begins with the
 * structs of its pages. Blocks of a full page that other threads freed are on a list of
 * the heap to which the page belongs. Version 3 has arenas instead of segments, and a
 * map that leads from an address to the struct of its page.
 */
#ifndef MS_WALK_MIMALLOC_WALK_H
#define MS_WALK_MIMALLOC_WALK_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/input.h"

#define MIMALLOC_SLICE_BYTES UINT64_C(65536)

/* Segments of mimalloc 2 are aligned to this size, or to twice this size before 2.0.9. */
#define MIMALLOC_SEGMENT_BYTES (UINT64_C(32) << 20)

/* Where the first block of a page is, relative to the start of the page. */
enum mimalloc_start {
	/* in a page of small blocks, 128 bytes after the start of the page */
	MIMALLOC_START_128,
	/* in a page of small blocks, 384 bytes after the start of the page */
	MIMALLOC_START_384,
	/*
	 * a gap of 3 blocks, 1 block or none, depending on the block size, precedes the
	 * first block
	 */
	MIMALLOC_START_BLOCKS,
	/* struct mi_page_s contains the address of the first block */
	MIMALLOC_START_FIELD
};

/* Offsets in mimalloc's structs. Versions with equal offsets share a layout. */
struct mimalloc_layout {
	const char *versions;
	/* struct mi_segment_s */
	uint16_t used, cookie, slice_count, info_count, entry_count, thread_id, slices;
	/* struct mi_page_s */
	uint16_t page_bytes, free, local, thread, block_count, block_count_bytes;
	uint16_t block_bytes, block_bytes_bytes, first_block, keys, heap;
	/* struct mi_heap_s: the list of blocks that other threads freed */
	uint16_t delayed;
	enum mimalloc_start start;
};

enum mimalloc_list {
	MIMALLOC_FREE,
	MIMALLOC_LOCAL,
	MIMALLOC_THREAD,
	MIMALLOC_LISTS_
};

struct mimalloc_page {
	uint64_t struct_addr;
	uint64_t start_addr, end_addr; /* the page's slices */
	uint64_t block_addr;	       /* address of the first block */
	uint64_t block_bytes;
	uint64_t lists[MIMALLOC_LISTS_]; /* address of the first block of each list */
	uint64_t keys[2];
	/* mimalloc 2 only: the heap of the page; 0 if the page's thread has ended */
	uint64_t heap_addr;
	uint64_t thread_id; /* mimalloc 2 only */
	uint64_t first_bit; /* the first block's bit in the bit tables of struct blocks */
	/*
	 * Number of blocks that were ever handed out (capacity), that fit into the page
	 * (reserved), and that are in use (used). A block that another thread freed
	 * counts as in use until mimalloc moves it to the page's own list.
	 */
	uint32_t capacity, reserved, used;
	bool is_encoded; /* true if the lists are encoded with the keys */
	/* true if a list continues in swapped-out memory; the page is then not counted */
	bool is_absent;
};

struct mimalloc_range {
	uint64_t start_addr, end_addr;
};

struct mimalloc_ranges {
	struct mimalloc_range *items;
	size_t count, capacity;
};

/* A segment of mimalloc 2. */
struct mimalloc_segment {
	uint64_t addr, end_addr;
	uint64_t used_count; /* number of pages in use */
	uint64_t thread_id;
};

struct mimalloc {
	const struct walk_input *input;
	struct image *image;
	struct heap *heap;
	struct blocks *blocks;

	const struct mimalloc_layout *layout; /* mimalloc 2 only */
	/*
	 * the random number in mimalloc 2's main heap from which the cookies of segments
	 * are computed; cookie_addr is 0 if it was not found
	 */
	uint64_t cookie, cookie_addr;
	struct mimalloc_segment *segments; /* segments in ascending address order */
	size_t segment_count, segment_capacity;
	/* the page map of mimalloc 3; map_addr is 0 if it was not found */
	uint64_t map_addr, map_words;
	const struct mimalloc_map_layout *map_layout; /* mimalloc 3 only */
	struct mimalloc_ranges arenas;		      /* mimalloc 3 only */

	struct mimalloc_page *pages; /* pages, disjoint and in ascending address order */
	size_t page_count, page_capacity;
	/*
	 * Ranges of all memory of the heap, of free slices, and of mimalloc's own data.
	 * The ranges of each list are disjoint.
	 */
	struct mimalloc_ranges claimed, free, own;
	uint64_t bit_count;
	/* number of words that may still be read, see mimalloc_spend() */
	uint64_t budget;

	/* counts of the structures that failed a check */
	uint64_t broken_segments, broken_pages, broken_lists;
	/* number of pages whose struct or lists are at least partly swapped out */
	uint64_t absent_pages;
	/* true if tables that list pages, arenas or free slices may be swapped out */
	bool may_lack_tables;
};

/*
 * Deduct `words` from the number of words that may be read. Return false if the budget is
 * exhausted, which can happen if corrupt structures refer to the same memory many times.
 */
static inline bool mimalloc_spend(struct mimalloc *m, uint64_t words)
{
	if (m->budget < words)
		return false;
	m->budget -= words;
	return true;
}

/* Set may_lack_tables if part of [start_addr, end_addr) may be swapped out. */
void mimalloc_check_table(struct mimalloc *m, uint64_t start_addr, uint64_t end_addr);

void mimalloc_add_range(struct mimalloc_ranges *ranges, uint64_t start_addr,
			uint64_t end_addr);

/*
 * Append a page, and number its blocks. If the page's figures contradict each other,
 * count the page as broken and return false. Defined in walk.c.
 */
bool mimalloc_add_page(struct mimalloc *m, const struct mimalloc_page *page);

/* Return the page whose slices contain addr, or NULL. */
const struct mimalloc_page *mimalloc_find_page(const struct mimalloc *m, uint64_t addr);

/*
 * Find the segments of mimalloc 2, and the layout that fits them. Return false if no
 * segment was found. Defined in find.c.
 */
bool mimalloc_find_segments(struct mimalloc *m);

/*
 * Read one page of mimalloc 2 from its struct at addr. block_bytes is 0 if the slices are
 * free. Return false if the struct is not resident or is invalid. Defined in segments.c.
 */
bool mimalloc_read_page(struct mimalloc *m, const struct mimalloc_layout *layout,
			uint64_t addr, uint64_t start_addr, struct mimalloc_page *ret);

/* Return the number of slices of the page whose struct is at addr, or 0. */
uint64_t mimalloc_read_slice_count(struct mimalloc *m, uint64_t addr);

/* Read all segments of mimalloc 2. Defined in segments.c. */
void mimalloc_read_segments(struct mimalloc *m);

/*
 * Decode an address from one of the page's lists. If the lists are not encoded, return it
 * unchanged. Defined in lists.c.
 */
uint64_t mimalloc_decode(const struct mimalloc_page *page, uint64_t value);

/* Mark the blocks on the lists as free, and check the lists. Defined in lists.c. */
void mimalloc_read_lists(struct mimalloc *m);

/*
 * Sum the blocks by class, page and mapping, and append their extents to m->blocks.
 * Defined in account.c.
 */
void mimalloc_account(struct mimalloc *m);

/* Like walk_heap(), but walk only the heap of mimalloc. */
void walk_mimalloc(const struct walk_input *input, struct heap *ret,
		   struct blocks *ret_blocks);

#endif
