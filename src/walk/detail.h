/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * detail - what the live blocks are, how full the pages, and who keeps those that are
 * nearly free: counted over the blocks of any allocator.
 */
#ifndef MS_WALK_DETAIL_H
#define MS_WALK_DETAIL_H

#include "model/heap_detail.h"
#include "walk/blocks.h"
#include "walk/types.h"

/* *ret is initialised, and is to be released. types NULL: all blocks are known by size only. */
void walk_detail(const struct blocks *blocks, struct types *types, struct heap_detail *ret);

#endif
