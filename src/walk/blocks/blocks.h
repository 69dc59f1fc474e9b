/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocks - the blocks that malloc has allocated, cached or freed, for any allocator.
 *
 * A walker fills the list from a copy of the memory and validates every block first:
 * sizes are sound and blocks do not overlap. Memory of an untrusted arena has no extent
 * here. All users of blocks (the mark, types, the map of pages) work on this list and
 * know no allocator's structures.
 *
 * Each block has one bit: its number in any side table of bit_count bits.
 */
#ifndef MS_WALK_BLOCKS_BLOCKS_H
#define MS_WALK_BLOCKS_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/image.h"

/* Alignment of the block heads in a chain, and the unit that its bits count. */
#define BLOCK_ALIGN UINT64_C(16)

enum block_state {
	BLOCK_LIVE,   /* allocated */
	BLOCK_CACHED, /* freed, in a thread's cache */
	BLOCK_FREE,   /* freed, or never allocated */
	BLOCK_OWN     /* the allocator's own data */
};

struct block {
	uint64_t addr;	/* address that malloc returned */
	uint64_t bytes; /* usable bytes from addr on: malloc_usable_size(3) */
	uint64_t bit;
	enum block_state state;
	uint32_t extent;
};

enum extent_kind {
	/*
	 * Consecutive blocks of any size. The word before addr holds the block's size.
	 * The block's bit is the position of its head in the image, and is set in starts.
	 */
	EXTENT_CHAIN,
	/* Blocks of unit_bytes each, with bits from first_bit on. */
	EXTENT_UNITS
};

/* Memory divided into blocks: [start_addr, end_addr), heads included. */
struct extent {
	uint64_t start_addr, end_addr;
	uint64_t unit_bytes;
	uint64_t first_bit;
	enum extent_kind kind;
	uint32_t arena; /* index in struct heap */
	bool is_mapped; /* in no arena: a single block with its own mapping */
};

/*
 * How the bytes of one resident page are used: heap = live + free +
 * the allocator's own data.
 */
struct page_use {
	uint16_t heap_bytes; /* 0: the page has no heap memory */
	uint16_t live_bytes;
	uint16_t free_bytes; /* includes cached blocks */
};

struct blocks {
	struct image *image; /* borrowed */
	/*
	 * Bytes before addr that belong to the block's extent: 16
	 * for glibc, 0 for others.
	 */
	uint64_t head_bytes;

	struct extent *extents; /* ascending by address, disjoint */
	size_t extent_count, extent_capacity;

	uint64_t bit_count;
	uint64_t *starts;   /* a block of a chain begins here */
	uint64_t *not_live; /* cached, free or own */
	uint64_t *cached;
	uint64_t *own;

	struct page_use *pages; /* one per page of the image */

	/*
	 * The allocator's own data inside a library's data. Block addresses found in that
	 * range do not keep blocks alive.
	 */
	uint64_t own_start_addr, own_end_addr;
};

#define BLOCKS_INIT                                                        \
	{                                                                  \
		NULL, 0, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, 0 \
	}

/*
 * Allocate cleared tables for bit_count bits and for the pages of the image, without
 * extents. The image is borrowed.
 */
void blocks_init(struct blocks *blocks, struct image *image, uint64_t bit_count);
void blocks_release(struct blocks *blocks);

/* Append an extent. The order is arbitrary until blocks_sort(). */
struct extent *blocks_add_extent(struct blocks *blocks);
void blocks_sort(struct blocks *blocks);

/*
 * Return the index of the first extent that ends after addr, or
 * extent_count if there is none.
 */
size_t blocks_search_extent(const struct blocks *blocks, uint64_t addr);

/* Find the block whose usable bytes contain addr. Returns false if there is none. */
bool blocks_find(const struct blocks *blocks, uint64_t addr, struct block *ret);

/*
 * Iterate over all blocks in address order. Start with place = { 0 };
 * returns false at the end.
 */
struct block_place {
	size_t extent;
	/* Address of the next block including its head; 0: first of the extent. */
	uint64_t addr;
};
bool blocks_next(const struct blocks *blocks, struct block_place *place,
		 struct block *ret);

static inline bool bit_is_set(const uint64_t *bits, uint64_t bit)
{
	return bits[bit / 64] >> bit % 64 & 1;
}

static inline void bit_set(uint64_t *bits, uint64_t bit)
{
	bits[bit / 64] |= UINT64_C(1) << bit % 64;
}

#endif
