/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * detail - types of the live blocks, how full the pages are, and which blocks pin nearly
 * free pages. Computed from the blocks of any allocator.
 */
#ifndef MS_WALK_BLOCKS_DETAIL_H
#define MS_WALK_BLOCKS_DETAIL_H

#include "model/heap_detail.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/types.h"

/*
 * Fill *ret from the blocks; release it with heap_detail_release(). If types is NULL, all
 * blocks are known by size only.
 */
void walk_detail(const struct blocks *blocks, struct types *types,
		 struct heap_detail *ret);

#endif
