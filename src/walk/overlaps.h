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
 * Discard all heaps that claim the same memory as another heap, because at least one of
 * the claims is wrong. The allocators of discarded heaps, and the evidence for them,
 * remain. All blocks must be in the same image. Two heaps may share a page if the page is
 * large enough for the bytes of both.
 */
void walk_discard_overlaps(struct walk_found found[], size_t count);

#endif
