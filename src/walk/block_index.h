/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block_index - the block at an address in a few memory accesses, for whoever asks for
 * millions: a table of the image's pages, found by address. Built from blocks that are
 * complete; takes 32 bytes per resident page at most, and twice that where single pages
 * are scattered over the address space.
 */
#ifndef MS_WALK_BLOCK_INDEX_H
#define MS_WALK_BLOCK_INDEX_H

#include "walk/blocks.h"
#include "walk/walk.h"

/* What is known of a page of the image before its bits are looked at. */
struct block_page {
	uint64_t addr;
	uint64_t
		head_bit; /* of the last block of a chain that begins before it; BIT_NONE */
	uint32_t extent; /* the first that ends behind the page's start */
	uint32_t run;	 /* of the image */
};

#define BIT_NONE UINT64_MAX

/*
 * WALK_ADDR_BITS of walk.h: walk_can_index() refuses a process that has memory above. The
 * tables here are cut like the kernel's.
 */
#define INDEX_ADDR_BITS WALK_ADDR_BITS
#define INDEX_TABLE_BITS 9
#define INDEX_TABLE_LENGTH (1 << INDEX_TABLE_BITS)
#define INDEX_PAGE_SHIFT 12

struct index_leaf {
	uint32_t numbers[INDEX_TABLE_LENGTH]; /* of the page in pages, + 1 */
};

struct index_middle {
	struct index_leaf *leaves[INDEX_TABLE_LENGTH];
};

struct index_upper {
	struct index_middle *middles[INDEX_TABLE_LENGTH];
};

struct block_index {
	const struct blocks *blocks; /* borrowed, with its image */
	struct block_page *pages;    /* by page of the image */
	struct index_upper *top[INDEX_TABLE_LENGTH];
	uint64_t low_addr, span_bytes; /* of all extents */
};

void block_index_init(struct block_index *index, const struct blocks *blocks);
void block_index_release(struct block_index *index);

/* A block, before more than its place is asked for. */
struct block_ref {
	uint64_t addr; /* what malloc returned */
	uint64_t bit;
	uint32_t extent;
};

/* As blocks_find(), whatever the block's state. */
bool block_index_find(const struct block_index *index, uint64_t addr,
		      struct block_ref *ret);

/* The usable bytes of a block that was found. */
uint64_t block_index_bytes(const struct block_index *index, const struct block_ref *ref);

/* Which entry of the tables of a level, counted from the leaves, is addr's. */
static inline size_t index_slot(uint64_t addr, unsigned int level)
{
	return addr >> (INDEX_PAGE_SHIFT + level * INDEX_TABLE_BITS) &
	       (INDEX_TABLE_LENGTH - 1);
}

/* The page of the image that holds addr, or NULL. */
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

/* Could addr be in a block at all? */
static inline bool block_index_may_hold(const struct block_index *index, uint64_t addr)
{
	return addr - index->low_addr < index->span_bytes;
}

#endif
