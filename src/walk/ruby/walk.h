/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - declarations shared by the parts of the walker for the slots of CRuby's
 * objects. Internal to walk/.
 *
 * Source: gc.c of Ruby 3.1; x86-64.
 *
 * A slot page is 16384 bytes of memory (65536 from Ruby 3.2 on), aligned to its size, and
 * has slots of one size. Its first word is the address of its struct heap_page, in
 * malloc's memory, which contains the address of the first slot. The first word of a slot
 * has the type of the object, which is 0 if the slot is free. Memory that an object needs
 * beyond its slot is in malloc's memory.
 */
#ifndef MS_WALK_RUBY_WALK_H
#define MS_WALK_RUBY_WALK_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/input.h"

#define RUBY_SIZES 5 /* sizes of slots */

struct ruby_page {
	uint64_t addr;
	uint64_t start_addr; /* first slot */
	uint64_t slot_count;
	uint64_t first_bit;
	uint64_t live_count;
	uint8_t size; /* index of the slot size */
};

struct ruby {
	const struct walk_input *input;
	struct image *image;
	struct heap *heap;
	struct blocks *blocks;

	uint64_t page_bytes;
	struct ruby_page *pages; /* pages in ascending address order */
	size_t page_count, page_capacity;
	uint64_t bit_count;
	uint64_t broken_count; /* number of pages that failed a check */
	/*
	 * true if some slot pages, slots or blocks of the transient heap may
	 * be swapped out
	 */
	bool has_swapped;
	/* true if Ruby was compacting its heap; some slots then refer to moved objects */
	bool has_moved;
	/* number of block headers of the transient heap that are swapped out */
	uint64_t skipped_count;
};

/* Return the slot size with this index. */
static inline uint64_t ruby_slot_bytes(unsigned int size)
{
	return UINT64_C(40) << size;
}

/*
 * Find the slot pages. Return NULL on success, or a string that describes the problem.
 * (find.c)
 */
const char *ruby_find(struct ruby *r);

/*
 * Sum the slots by size, page and mapping, and append their extents to r->blocks.
 * (account.c)
 */
void ruby_account(struct ruby *r);

/*
 * Return the address of the transient heap, which contains the elements of young arrays,
 * hashes and structs. Return 0 if not found. (transient.c)
 */
uint64_t ruby_find_transient(struct ruby *r);

/*
 * Add the blocks of the transient heap to the use of the pages in r->blocks and to the
 * totals in *space. (transient.c)
 */
void ruby_account_transient(struct ruby *r, uint64_t arena, struct heap_space *space);

/* Like walk_heap(), but walk only the slots of Ruby 3.1. */
void walk_ruby(const struct walk_input *input, struct heap *ret,
	       struct blocks *ret_blocks);

#endif
