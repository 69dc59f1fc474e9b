/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * index - find the block at an address with few memory accesses, because a search for
 * leaks looks up millions of addresses.
 *
 * The index maps addresses to pages of the image. It is built once all blocks are known.
 * It takes at most 32 bytes per resident page, or twice as much if single pages are
 * scattered over the address space.
 */
#ifndef MS_WALK_BLOCKS_INDEX_H
#define MS_WALK_BLOCKS_INDEX_H

#include "walk/blocks/blocks.h"
#include "walk/blocks/input.h"

/*
 * Cached facts about a page of the image, so that a search need not scan the bit tables.
 */
struct block_page {
	uint64_t addr;
	/* Bit of the last glibc block that begins before the page, or BIT_NONE. */
	uint64_t head_bit;
	/* Index of the first extent that ends after the start of the page. */
	uint32_t extent;
	uint32_t run; /* index of the run in the image that contains the page */
};

#define BIT_NONE UINT64_MAX

/*
 * Number of bits of an address that the index uses. The index's tables divide an address
 * as the kernel's page tables do. walk_can_index() rejects processes with higher
 * addresses.
 */
#define INDEX_ADDR_BITS WALK_ADDR_BITS
#define INDEX_TABLE_BITS 9
#define INDEX_TABLE_LENGTH (1 << INDEX_TABLE_BITS)
#define INDEX_PAGE_SHIFT 12

struct index_leaf {
	/*
	 * For each page, 1 + its index in the pages of struct block_index, or 0 if the
	 * page is not in the image.
	 */
	uint32_t numbers[INDEX_TABLE_LENGTH];
};

struct index_middle {
	struct index_leaf *leaves[INDEX_TABLE_LENGTH];
};

struct index_upper {
	struct index_middle *middles[INDEX_TABLE_LENGTH];
};

struct block_index {
	/* blocks, borrowed from the caller together with their image */
	const struct blocks *blocks;
	/* facts about the pages: one element for each page of the image */
	struct block_page *pages;
	struct index_upper *top[INDEX_TABLE_LENGTH];
	/*
	 * Start of the first extent, and distance from there to the end of the last
	 * extent.
	 */
	uint64_t low_addr, span_bytes;
};

void block_index_init(struct block_index *index, const struct blocks *blocks);
void block_index_release(struct block_index *index);

/* The result of a search in the index, without the block's size and state. */
struct block_ref {
	uint64_t addr; /* address that malloc returned */
	uint64_t bit;
	uint32_t extent;
};

/*
 * Find the block that contains addr, regardless of its state. Return false if there is
 * no such block.
 */
bool block_index_find(const struct block_index *index, uint64_t addr,
		      struct block_ref *ret);

/* Return the usable size, in bytes, of a block that block_index_find() found. */
uint64_t block_index_bytes(const struct block_index *index, const struct block_ref *ref);

/*
 * Return the index of the entry for addr in a table of the given level. Level 0 is struct
 * index_leaf.
 */
static inline size_t index_slot(uint64_t addr, unsigned int level)
{
	return addr >> (INDEX_PAGE_SHIFT + level * INDEX_TABLE_BITS) &
	       (INDEX_TABLE_LENGTH - 1);
}

/* Return the page of the image that contains addr, or NULL. */
static inline const struct block_page *block_index_page(const struct block_index *index,
							uint64_t addr)
{
	const struct index_upper *upper = index->top[index_slot(addr, 3)];
	const struct index_middle *middle;
	const struct index_leaf *leaf;
	uint32_t number;

	if (!upper || addr >> INDEX_ADDR_BITS)
		return NULL;
	middle = upper->middles[index_slot(addr, 2)];
	if (!middle)
		return NULL;
	leaf = middle->leaves[index_slot(addr, 1)];
	if (!leaf)
		return NULL;
	number = leaf->numbers[index_slot(addr, 0)];
	return number ? &index->pages[number - 1] : NULL;
}

/*
 * Return false if no block can contain addr, because addr is before the first extent or
 * after the last.
 */
static inline bool block_index_may_hold(const struct block_index *index, uint64_t addr)
{
	return addr - index->low_addr < index->span_bytes;
}

#endif
