/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * input - the copy of a process's memory that the walkers read.
 */
#ifndef MS_WALK_BLOCKS_INPUT_H
#define MS_WALK_BLOCKS_INPUT_H

#include "model/image.h"
#include "model/mapping.h"

struct walk_input {
	/* Resident pages of the mappings that walk_wants_mapping() accepts. */
	struct image *image;
	/* All, in address order, from the same instant. */
	const struct mapping_list *mappings;
	/* Thread pointers, used to find the thread caches. */
	const uint64_t *thread_addrs;
	size_t thread_count;
	/*
	 * The target ran while it was copied page by page. Free lists are then useless
	 * and chains may be torn. Cached and fast chunks count as live.
	 */
	bool is_running;
};

/* Address bits of x86-64 with four-level page tables. Five levels allow more. */
#define WALK_ADDR_BITS 47

/* Return true if all memory that the walkers read lies below WALK_ADDR_BITS. */
bool walk_can_index(const struct mapping_list *mappings);

/*
 * Return true if the walkers read the memory of the mapping: private,
 * readable and writable.
 */
bool walk_wants_mapping(const struct mapping *m);

#endif
