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
 * Analyse one heap and its blocks. The flags in *ret show which of its members are known.
 * Blocks of malloc are grouped by type, or by size if their type is unknown or `types` is
 * NULL. Blocks of a runtime's heap are grouped only by size, because their first words do
 * not identify C++ classes. The other heaps of the process are ignored. The caller
 * releases *ret with heap_detail_release().
 */
void walk_detail(const struct heap *heap, const struct blocks *blocks,
		 struct types *types, struct heap_detail *ret);

#endif
