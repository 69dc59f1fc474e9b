/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * input - the copy of a process's memory that the walkers read.
 */
#ifndef MS_WALK_BLOCKS_INPUT_H
#define MS_WALK_BLOCKS_INPUT_H

#include "model/image.h"
#include "model/mapping.h"
#include "tracee/memory/memory.h"

struct walk_input {
	/*
	 * The resident pages of all mappings for which walk_wants_mapping() returns true.
	 */
	struct image *image;
	/*
	 * All mappings of the process at the time of the copy, in
	 * ascending address order.
	 */
	const struct mapping_list *mappings;
	/*
	 * Thread pointers (FS base) of all threads, used to find malloc's thread caches.
	 */
	const uint64_t *thread_addrs;
	size_t thread_count;
	/*
	 * True if the target ran while memstate copied its memory page by page. In such a
	 * copy the free lists are useless, and adjacent chunks may be inconsistent.
	 * Chunks in thread caches and fastbins count as live.
	 */
	bool is_running;
	/*
	 * Access to memory that is not in the image, such as the read-only data of mapped
	 * files. The process may already be running again, so walkers read only constant
	 * data. May be NULL; borrowed.
	 */
	struct memory *memory;
	/*
	 * One byte for each page of the image, nonzero if the page belongs to the heap of
	 * a language runtime and so cannot contain malloc blocks. NULL if there is no
	 * such page.
	 */
	const uint8_t *claimed;
};

/*
 * Return true if the page at addr may be swapped out because it is not in the image, and
 * smaps reports swapped-out pages in its mapping.
 */
bool walk_is_swapped(const struct walk_input *input, uint64_t addr);

/*
 * Return true if a page of [start_addr, end_addr) may be swapped out, and its mapping is
 * one that the walkers read.
 */
bool walk_is_part_swapped(const struct walk_input *input, uint64_t start_addr,
			  uint64_t end_addr);

/* Return true if part of the memory that the walkers read is swapped out. */
bool walk_has_swapped(const struct walk_input *input);

/*
 * Find the first address at or above addr that is a multiple of `align` and for which
 * walk_is_swapped() returns true. Only anonymous mappings that the walkers read are
 * searched. The stack is skipped, and so is [heap] unless has_brk is set. Return
 * UINT64_MAX if not found. `align` is a power of 2 and at least the size of a page.
 */
uint64_t walk_next_swapped(const struct walk_input *input, uint64_t addr, uint64_t align,
			   bool has_brk);

/*
 * Number of bits in a user address on x86-64 with four-level page tables. With five
 * levels, addresses may have more bits.
 */
#define WALK_ADDR_BITS 47

/*
 * Return true if the page at addr is resident and belongs to the heap of a language
 * runtime.
 */
bool walk_is_claimed(const struct walk_input *input, uint64_t addr);

/* Return true if all mappings that the walkers read are below 2^WALK_ADDR_BITS. */
bool walk_can_index(const struct mapping_list *mappings);

/*
 * Return true if the walkers read the memory of the mapping, which must be private,
 * readable and writable.
 */
bool walk_wants_mapping(const struct mapping *m);

#endif
