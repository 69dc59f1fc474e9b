/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - an allocator's state from a copy of a process's memory. Pure: it reads the copy only.
 *
 * The copy is foreign. Every address, size and count in it is checked before it is used:
 * memory that lies makes the answer "unknown", and takes time and room in proportion to
 * the copy, never more.
 */
#ifndef MS_WALK_WALK_H
#define MS_WALK_WALK_H

#include "model/heap.h"
#include "model/image.h"
#include "model/mapping.h"
#include "walk/blocks.h"

struct walk_input {
	/* resident pages of the mappings that walk_wants_mapping() */
	struct image *image;
	const struct mapping_list *mappings; /* all, by address, of the same instant */
	const uint64_t *thread_addrs;	     /* thread pointers, for the thread caches */
	size_t thread_count;
	/*
	 * The target ran while it was copied, page after page: lists are of no use, and
	 * chains may be torn. Cached and fast chunks count as live.
	 */
	bool is_running;
};

/* Addresses of x86-64 with four levels of page tables. With five there may be more. */
#define WALK_ADDR_BITS 47

/* True if the walkers know all addresses of the memory that they read. */
bool walk_can_index(const struct mapping_list *mappings);

/* True if the walkers read the memory of such a mapping: private, readable and writable. */
bool walk_wants_mapping(const struct mapping *m);

/*
 * The heap of the allocator that the process uses. *ret and *ret_blocks are initialised,
 * and are to be released; what could not be trusted is said in *ret, and is not in
 * *ret_blocks, which needs the image for as long as it is used.
 *
 * Where two allocators are at work that can be read, it is that with more resident
 * memory; what the other has is as any other anonymous memory. One that cannot be read is
 * named in *ret, and its quality is unknown.
 */
void walk_heap(const struct walk_input *input, struct heap *ret, struct blocks *ret_blocks);

/*
 * True if the mappings show that the allocator cannot be read: the process need not be
 * stopped. *ret, which is initialised, then names it as walk_heap() does.
 */
bool walk_is_hopeless(const struct mapping_list *mappings, struct heap *ret);

/* As walk_heap() for glibc's malloc alone, 2.26 to 2.43, linked dynamically or statically. */
void walk_glibc(const struct walk_input *input, struct heap *ret, struct blocks *ret_blocks);

/* As walk_heap() for jemalloc alone, 5.0 to 5.3.1, linked dynamically or statically. */
void walk_jemalloc(const struct walk_input *input, struct heap *ret,
		   struct blocks *ret_blocks);

#endif
