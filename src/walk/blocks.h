/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocks - what malloc handed out, cached and took back, block by block, whichever
 * allocator it is.
 *
 * A walker fills it from a copy of the memory and checks every block first: sizes are
 * sound, blocks do not overlap. Memory of an arena that is not trusted has no extent
 * here. Whoever asks about blocks (the mark, types, the map of pages) asks this, and
 * knows no allocator's structures.
 *
 * Per block there is a bit: its number in any side table of bit_count bits.
 */
#ifndef MS_WALK_BLOCKS_H
#define MS_WALK_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/image.h"

/* Heads in a chain are so aligned: its bits are counted in this. */
#define BLOCK_ALIGN UINT64_C(16)

enum block_state {
	BLOCK_LIVE,   /* handed out */
	BLOCK_CACHED, /* freed, in a thread's cache */
	BLOCK_FREE,   /* freed, or not handed out yet */
	BLOCK_OWN     /* the allocator's own data */
};

struct block {
	uint64_t addr;	/* what malloc returned */
	uint64_t bytes; /* what may be used from there on: malloc_usable_size(3) */
	uint64_t bit;
	enum block_state state;
	uint32_t extent;
};

enum extent_kind {
	/*
	 * Blocks of any size, one after the other. Each has its size in the word before addr;
	 * its bit is at its head's place in the image, and is set in starts.
	 */
	EXTENT_CHAIN,
	/* Blocks of unit_bytes each, with bits from first_bit on. */
	EXTENT_UNITS
};

/* Memory cut into blocks: [start, end), heads included. */
struct extent {
	uint64_t start_addr, end_addr;
	uint64_t unit_bytes;
	uint64_t first_bit;
	enum extent_kind kind;
	uint32_t arena; /* index in struct heap */
	bool is_mapped; /* of no arena: one block, with a mapping of its own */
};

/* How the bytes of one resident page are used: heap = live + free + the allocator's own. */
struct page_use {
	uint16_t heap_bytes; /* 0: the page is not the heap's */
	uint16_t live_bytes;
	uint16_t free_bytes; /* cached ones too */
};

struct blocks {
	struct image *image; /* borrowed */
	uint64_t head_bytes; /* before addr, within the block's extent: 16 for glibc, 0 for others */

	struct extent *extents; /* by address, disjoint */
	size_t extent_count, extent_capacity;

	uint64_t bit_count;
	uint64_t *starts;   /* of chains: a block begins here */
	uint64_t *not_live; /* cached, free or own */
	uint64_t *cached;
	uint64_t *own;

	struct page_use *pages; /* per page of the image */

	/*
	 * the allocator's own data among a library's: its addresses of blocks keep none
	 * in use
	 */
	uint64_t own_start_addr, own_end_addr;
};

#define BLOCKS_INIT                                                        \
	{                                                                  \
		NULL, 0, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, 0 \
	}

/* Tables for so many bits, and for the pages of the image, all clear; and no extents. */
void blocks_init(struct blocks *blocks, struct image *image, uint64_t bit_count);
void blocks_release(struct blocks *blocks);

/* Append an extent. Order matters not before blocks_sort(). */
struct extent *blocks_add_extent(struct blocks *blocks);
void blocks_sort(struct blocks *blocks);

/* Index of the first extent that ends after addr; extent_count if none does. */
size_t blocks_search_extent(const struct blocks *blocks, uint64_t addr);

/* The block that has addr among its usable bytes. False if there is none. */
bool blocks_find(const struct blocks *blocks, uint64_t addr, struct block *ret);

/* All blocks by address: begin with { 0 }. False at the end. */
struct block_place {
	size_t extent;
	uint64_t addr; /* of the next one, its head included; 0: the extent's first */
};
bool blocks_next(const struct blocks *blocks, struct block_place *place, struct block *ret);

static inline bool bit_is_set(const uint64_t *bits, uint64_t bit)
{
	return bits[bit / 64] >> bit % 64 & 1;
}

static inline void bit_set(uint64_t *bits, uint64_t bit)
{
	bits[bit / 64] |= UINT64_C(1) << bit % 64;
}

#endif
