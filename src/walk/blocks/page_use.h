/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_use - count how the bytes of each resident page are used, and sum the pages of
 * each mapping. The result is how much of a mapping's resident memory is live, free, or
 * the allocator's own data. Works for any allocator.
 */
#ifndef MS_WALK_BLOCKS_PAGE_USE_H
#define MS_WALK_BLOCKS_PAGE_USE_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/input.h"

enum use {
	/*
	 * All memory of the allocator, including live and free memory, which is counted a
	 * second time as USE_LIVE or USE_FREE.
	 */
	USE_HEAP,
	USE_LIVE,
	USE_FREE
};

/* Count the bytes of [start_addr, end_addr) on each resident page in this range. */
void page_use_add(struct blocks *blocks, uint64_t start_addr, uint64_t end_addr,
		  enum use use);

/*
 * Sum the pages of each mapping and of all mappings. Completely free pages count as
 * pool_pages, free bytes on other pages as pool_fragments, and bytes that are neither
 * live nor free as heap_meta.
 */
void page_use_share(const struct blocks *blocks, const struct mapping_list *mappings,
		    struct heap *heap);

#endif
