/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * overlaps - detect heaps whose walkers claim the same memory. Internal to walk/.
 */
#ifndef MS_WALK_OVERLAPS_H
#define MS_WALK_OVERLAPS_H

#include <stddef.h>

#include "model/heap.h"
#include "walk/blocks/blocks.h"

/* The result of a walker. */
struct walk_found {
	struct heap heap;
	struct blocks blocks;
};

/*
 * Make the heaps unknown that claim the same memory as another one, because at least one
 * of the claims is wrong. Their allocator and its evidence remain. All blocks must be of
 * the same image. Two heaps may share a page, if they have no more than its bytes.
 */
void walk_discard_overlaps(struct walk_found found[], size_t count);

#endif
