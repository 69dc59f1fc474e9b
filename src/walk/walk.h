/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - derive an allocator's state from a copy of a process's
 * memory. Reads only the copy.
 *
 * The copy is untrusted input. The walkers validate every address, size and count before
 * use. Corrupt memory makes the result "unknown", and time and memory stay proportional
 * to the size of the copy.
 */
#ifndef MS_WALK_WALK_H
#define MS_WALK_WALK_H

#include "model/heap.h"
#include "model/image.h"
#include "model/mapping.h"
#include "walk/blocks.h"

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

/*
 * Walk the heap of the process's allocator. *ret and *ret_blocks are initialised;
 * release both. *ret reports what could not be trusted, and *ret_blocks omits it.
 * *ret_blocks borrows the image.
 *
 * If a process uses two readable allocators, the one with more resident memory is walked
 * and the other's memory counts as ordinary anonymous memory. If the allocator cannot be
 * read, *ret names it and its quality is unknown.
 */
void walk_heap(const struct walk_input *input, struct heap *ret, struct blocks *ret_blocks);

/*
 * Return true if the mappings show that the allocator cannot be read, so that there
 * is no need to stop the process. *ret must be initialised, and then names the
 * allocator as walk_heap() does.
 */
bool walk_is_hopeless(const struct mapping_list *mappings, struct heap *ret);

/*
 * Like walk_heap(), for glibc's malloc only: 2.26 to 2.43,
 * dynamically or statically linked.
 */
void walk_glibc(const struct walk_input *input, struct heap *ret, struct blocks *ret_blocks);

/* Like walk_heap(), for jemalloc only: 5.0 to 5.3.1, dynamically or statically linked. */
void walk_jemalloc(const struct walk_input *input, struct heap *ret,
		   struct blocks *ret_blocks);

#endif
