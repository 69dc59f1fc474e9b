/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocks - the blocks that malloc has allocated, cached or freed, for any allocator.
 *
 * A walker fills the list from a copy of the memory. It adds only blocks that passed its
 * checks: their sizes are valid, and the blocks do not overlap. The list omits allocator
 * arenas that failed a check. Code that uses the list, such as the search for leaks, does
 * not depend on the structures of any allocator.
 *
 * A number, called the block's bit, identifies each block. Tables with one flag per block
 * have bit_count bits.
 */
#ifndef MS_WALK_BLOCKS_BLOCKS_H
#define MS_WALK_BLOCKS_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/image.h"

/*
 * Alignment of the block heads in glibc's heaps. Each bit of a bit table
 * represents this many bytes.
 */
#define BLOCK_ALIGN UINT64_C(16)

enum block_state {
	BLOCK_LIVE,   /* allocated block */
	BLOCK_CACHED, /* freed block in a thread's cache */
	BLOCK_FREE,   /* block that was freed or never allocated */
	BLOCK_OWN     /* allocator's own data */
};

struct block {
	uint64_t addr;	/* address that malloc returned */
	uint64_t bytes; /* usable size in bytes, as malloc_usable_size(3) reports it */
	uint64_t bit;
	enum block_state state;
	uint32_t extent;
};

enum extent_kind {
	/*
	 * Adjacent blocks of any size, as in glibc. The word before a block's addr
	 * contains the block's size. The block's bit is the offset of its head in the
	 * image, in units of BLOCK_ALIGN, and is set in `starts`.
	 */
	EXTENT_CHAIN,
	/*
	 * Blocks of unit_bytes each, as in jemalloc's slabs. Their bits are first_bit,
	 * first_bit + 1, and so on.
	 */
	EXTENT_UNITS,
	/*
	 * Slots of unit_bytes each, as in groups of musl's mallocng. Their bits are
	 * numbered like those of EXTENT_UNITS. The header of an allocated slot contains
	 * the address and the size of the block (slot.h).
	 */
	EXTENT_SLOTS
};

/*
 * A range of memory that is divided into blocks: [start_addr, end_addr). The range
 * includes the heads of the blocks.
 */
struct extent {
	uint64_t start_addr, end_addr;
	uint64_t unit_bytes;
	uint64_t first_bit;
	enum extent_kind kind;
	/* index of the extent's arena in the array `arenas` of struct heap */
	uint32_t arena;
	/*
	 * True if the extent is a single block with its own mapping, which belongs
	 * to no arena.
	 */
	bool is_mapped;
};

/*
 * How the bytes of one resident page are used. heap_bytes is the sum of live_bytes,
 * free_bytes and the allocator's own data.
 */
struct page_use {
	uint16_t heap_bytes; /* bytes of heap memory on the page */
	uint16_t live_bytes;
	uint16_t free_bytes; /* free bytes, including blocks in thread caches */
};

struct own_range {
	uint64_t start_addr, end_addr;
};

struct blocks {
	struct image *image; /* image of the memory; borrowed from the caller */
	/*
	 * Size of the head before each address that malloc returned: 16 for glibc, 0 for
	 * other allocators.
	 */
	uint64_t head_bytes;
	/*
	 * Number of unusable bytes at the end of each chunk in an EXTENT_CHAIN: 0 for
	 * glibc, whose blocks use the first word of the next chunk's head, and 8 for
	 * musl's old malloc.
	 */
	uint64_t chain_end_bytes;

	/*
	 * Extents do not overlap. After blocks_sort() they are in ascending address
	 * order.
	 */
	struct extent *extents;
	size_t extent_count, extent_capacity;

	uint64_t bit_count;
	/*
	 * For glibc only: bit n is set if the head of a block is at offset 16 * n in the
	 * image.
	 */
	uint64_t *starts;
	/*
	 * Bit table. The bit of a block is set if the block is cached, free or the
	 * allocator's own data.
	 */
	uint64_t *not_live;
	uint64_t *cached;
	uint64_t *own;

	/* use of each resident page: one element for each page of the image */
	struct page_use *pages;

	/*
	 * Ranges of the allocator's data outside the heap, in a library or program or in
	 * TLS. A pointer in these ranges does not make a block reachable.
	 */
	struct own_range *own_ranges;
	size_t own_range_count, own_range_capacity;

	/*
	 * The blocks of the process's other heaps, in the same order as the array
	 * `others` of struct heap.
	 */
	struct blocks *others;
	size_t other_count;
};

#define BLOCKS_INIT                                                                  \
	{                                                                            \
		NULL, 0, 0, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, \
			NULL, 0                                                      \
	}

/*
 * Allocate zeroed tables for bit_count bits and for the pages of the image, without
 * extents. The image is borrowed.
 */
void blocks_init(struct blocks *blocks, struct image *image, uint64_t bit_count);
void blocks_release(struct blocks *blocks);

/* Append a range of the allocator's data. Ranges may overlap and be in any order. */
void blocks_add_own_range(struct blocks *blocks, uint64_t start_addr, uint64_t end_addr);

/* Return true if addr is in a range of the allocator's data outside the heap. */
bool blocks_in_own_range(const struct blocks *blocks, uint64_t addr);

/* Append an extent. The extents need not be in address order before blocks_sort(). */
struct extent *blocks_add_extent(struct blocks *blocks);
void blocks_sort(struct blocks *blocks);

/*
 * Return the index of the first extent that ends after addr, or extent_count if there is
 * none.
 */
size_t blocks_search_extent(const struct blocks *blocks, uint64_t addr);

/*
 * Find the block whose usable bytes contain addr. Return false if there is no such
 * block.
 */
bool blocks_find(const struct blocks *blocks, uint64_t addr, struct block *ret);

/*
 * The current position while the caller iterates over all blocks in address order.
 * Initialise it with { 0 }. blocks_next() returns false after the last block.
 */
struct block_place {
	size_t extent;
	/*
	 * Address of the next block's head, or 0 to continue at the start of the extent.
	 */
	uint64_t addr;
};
bool blocks_next(const struct blocks *blocks, struct block_place *place,
		 struct block *ret);

/* Set the bit of each live block in a zeroed bit table. */
void blocks_set_live(const struct blocks *blocks, uint64_t *bits);

/*
 * Advance *place to the first block, at or after *place, whose bit is set in the table.
 * Return false if no further bit is set. Use this function only if all extents are
 * EXTENT_CHAIN and each set bit of the table represents a block.
 */
bool blocks_skip_to(const struct blocks *blocks, const uint64_t *bits,
		    struct block_place *place);

static inline bool bit_is_set(const uint64_t *bits, uint64_t bit)
{
	return bits[bit / 64] >> bit % 64 & 1;
}

static inline void bit_set(uint64_t *bits, uint64_t bit)
{
	bits[bit / 64] |= UINT64_C(1) << bit % 64;
}

#endif
