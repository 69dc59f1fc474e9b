/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * detail - analyse a heap: the types of the live blocks, how full its pages are, and
 * which blocks pin nearly free pages. Works for any allocator.
 */
#ifndef MS_WALK_BLOCKS_DETAIL_H
#define MS_WALK_BLOCKS_DETAIL_H

#include "model/heap_detail.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/types.h"

/*
 * Fill *ret from the blocks. If `types` is NULL, blocks are grouped only by size. The
 * caller releases *ret with heap_detail_release().
 */
void walk_detail(const struct blocks *blocks, struct types *types,
		 struct heap_detail *ret);

#endif
