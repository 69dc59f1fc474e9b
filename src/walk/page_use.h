/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_use - how the bytes of each resident page are used, and the sums of that: what of
 * a mapping's resident memory is live, free or the allocator's own. The same for every
 * allocator.
 */
#ifndef MS_WALK_PAGE_USE_H
#define MS_WALK_PAGE_USE_H

#include "walk/walk.h"

enum use {
	USE_HEAP, /* all that is the allocator's: once for each byte, besides what follows */
	USE_LIVE,
	USE_FREE
};

/* Count [start, end) on each resident page it touches. */
void page_use_add(struct blocks *blocks, uint64_t start_addr, uint64_t end_addr,
		  enum use use);

/*
 * The sums, per mapping and of all: a page that is free to its last byte is pool_pages,
 * free bytes on others are pool_fragments, and what is neither live nor free is
 * heap_meta.
 */
void page_use_share(const struct blocks *blocks, const struct mapping_list *mappings,
		    struct heap *heap);

#endif
