/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/blocks/blocks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/xalloc.h"
#include "walk/blocks/slot.h"

/*
 * Flag bits in the size word of a glibc chunk (malloc/malloc.c):
 * PREV_INUSE, IS_MMAPPED, NON_MAIN_ARENA.
 */
#define SIZE_FLAGS UINT64_C(7)

#define HUGE_PAGE_BYTES (UINT64_C(2) << 20)

/*
 * Allocate a zeroed bit table. Large tables use huge pages, because with small pages most
 * of the random accesses would miss the TLB.
 */
static uint64_t *make_bits(uint64_t bit_count)
{
	uint64_t bytes = (bit_count / 64 + 1) * sizeof(uint64_t);
	void *bits = NULL;

	if (bytes < 2 * HUGE_PAGE_BYTES)
		return xcalloc((size_t)bytes, 1);
	bytes = (bytes + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1);
	if (posix_memalign(&bits, HUGE_PAGE_BYTES, (size_t)bytes))
		xalloc_exhausted();
	madvise(bits, (size_t)bytes, MADV_HUGEPAGE);
	return memset(bits, 0, (size_t)bytes);
}

void blocks_init(struct blocks *blocks, struct image *image, uint64_t bit_count)
{
	*blocks = (struct blocks)BLOCKS_INIT;
	blocks->image = image;
	blocks->bit_count = bit_count;
	blocks->starts = make_bits(bit_count);
	blocks->not_live = make_bits(bit_count);
	blocks->cached = make_bits(bit_count);
	blocks->own = make_bits(bit_count);
	blocks->pages = xcalloc((size_t)(image->length_bytes / IMAGE_PAGE_BYTES + 1),
				sizeof(*blocks->pages));
}

void blocks_release(struct blocks *blocks)
{
	for (size_t i = 0; i < blocks->other_count; i++)
		blocks_release(&blocks->others[i]);
	free(blocks->others);
	free(blocks->extents);
	free(blocks->starts);
	free(blocks->not_live);
	free(blocks->cached);
	free(blocks->own);
	free(blocks->pages);
	free(blocks->own_ranges);
	*blocks = (struct blocks)BLOCKS_INIT;
}

void blocks_add_own_range(struct blocks *blocks, uint64_t start_addr, uint64_t end_addr)
{
	blocks->own_ranges = xgrow(blocks->own_ranges, &blocks->own_range_capacity,
				   blocks->own_range_count + 1,
				   sizeof(*blocks->own_ranges));
	blocks->own_ranges[blocks->own_range_count++] =
		(struct own_range){ start_addr, end_addr };
}

bool blocks_in_own_range(const struct blocks *blocks, uint64_t addr)
{
	for (size_t i = 0; i < blocks->own_range_count; i++)
		if (addr >= blocks->own_ranges[i].start_addr &&
		    addr < blocks->own_ranges[i].end_addr)
			return true;
	return false;
}

struct extent *blocks_add_extent(struct blocks *blocks)
{
	struct extent *extent;

	blocks->extents = xgrow(blocks->extents, &blocks->extent_capacity,
				blocks->extent_count + 1, sizeof(*blocks->extents));
	extent = &blocks->extents[blocks->extent_count++];
	*extent = (struct extent){ 0 };
	return extent;
}

static int compare_extents(const void *a, const void *b)
{
	const struct extent *left = a, *right = b;

	return (left->start_addr > right->start_addr) -
	       (left->start_addr < right->start_addr);
}

void blocks_sort(struct blocks *blocks)
{
	if (blocks->extent_count > 0)
		qsort(blocks->extents, blocks->extent_count, sizeof(*blocks->extents),
		      compare_extents);
}

size_t blocks_search_extent(const struct blocks *blocks, uint64_t addr)
{
	size_t low = 0, high = blocks->extent_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (blocks->extents[middle].end_addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct extent *find_extent(const struct blocks *blocks, uint64_t addr)
{
	size_t i = blocks_search_extent(blocks, addr);

	return i < blocks->extent_count && blocks->extents[i].start_addr <= addr
		       ? &blocks->extents[i]
		       : NULL;
}

static enum block_state state_of(const struct blocks *blocks, uint64_t bit)
{
	if (!bit_is_set(blocks->not_live, bit))
		return BLOCK_LIVE;
	if (bit_is_set(blocks->own, bit))
		return BLOCK_OWN;
	return bit_is_set(blocks->cached, bit) ? BLOCK_CACHED : BLOCK_FREE;
}

/*
 * Read the chunk whose head is at `start` as a block. Return false if the head is not
 * resident.
 */
static bool read_chain(const struct blocks *blocks, uint64_t start, struct block *ret)
{
	const struct image_run *run = image_run_at(blocks->image, start);
	uint64_t size;

	if (!run || !image_read(blocks->image, start + 8, &size))
		return false;
	ret->addr = start + blocks->head_bytes;
	/* the block's usable bytes include the first word of the next block's head */
	ret->bytes = (size & ~SIZE_FLAGS) - 8 - blocks->chain_end_bytes;
	ret->bit = (run->offset_bytes + (start - run->start_addr)) / BLOCK_ALIGN;
	return true;
}

static void read_unit(const struct blocks *blocks, const struct extent *extent,
		      uint64_t index, struct block *ret)
{
	ret->addr = extent->start_addr + index * extent->unit_bytes + blocks->head_bytes;
	ret->bytes = extent->unit_bytes - blocks->head_bytes;
	ret->bit = extent->first_bit + index;
}

/*
 * Set the address and the size of an allocated block from the header of its slot. If the
 * header is invalid, the block is the whole slot.
 */
static void refine_slot(const struct blocks *blocks, const struct extent *extent,
			struct block *block)
{
	struct slot slot;

	if (extent->kind != EXTENT_SLOTS || block->state != BLOCK_LIVE ||
	    !slot_read(blocks->image, block->addr, extent->unit_bytes, &slot) ||
	    slot.has_group)
		return;
	block->addr = slot.addr;
	block->bytes = slot.bytes;
}

/*
 * Find the last set bit in [first, limit). Return false if no bit in the range is set.
 */
static bool last_bit(const uint64_t *bits, uint64_t first, uint64_t limit, uint64_t *ret)
{
	uint64_t word = limit / 64;
	uint64_t rest = bits[word] & ((UINT64_C(1) << limit % 64) - 1);

	while (rest == 0) {
		if (word == 0 || word * 64 <= first)
			return false;
		rest = bits[--word];
	}
	*ret = word * 64 + 63 - (uint64_t)__builtin_clzll(rest);
	return *ret >= first;
}

/* Return how many bits of a bit table represent the part of the image below addr. */
static uint64_t bits_below(const struct image *image, uint64_t addr)
{
	size_t index = image_find_run(image, addr);
	const struct image_run *run = &image->runs[index];

	if (index == image->run_count)
		return image->length_bytes / BLOCK_ALIGN;
	return (run->offset_bytes +
		(addr > run->start_addr ? addr - run->start_addr : 0)) /
	       BLOCK_ALIGN;
}

/* Return the address that a bit of a bit table represents. */
static uint64_t bit_addr(const struct image *image, uint64_t bit)
{
	uint64_t offset = bit * BLOCK_ALIGN;
	const struct image_run *run = image_run_with_offset(image, offset);

	return run->start_addr + (offset - run->offset_bytes);
}

static bool find_in_chain(const struct blocks *blocks, const struct extent *extent,
			  uint64_t addr, struct block *ret)
{
	uint64_t first = bits_below(blocks->image, extent->start_addr);
	uint64_t limit =
		bits_below(blocks->image, addr - addr % BLOCK_ALIGN + BLOCK_ALIGN);
	uint64_t bit;

	return last_bit(blocks->starts, first, limit, &bit) &&
	       read_chain(blocks, bit_addr(blocks->image, bit), ret);
}

bool blocks_find(const struct blocks *blocks, uint64_t addr, struct block *ret)
{
	uint64_t head_addr = addr - blocks->head_bytes;
	const struct extent *extent;
	struct block block;

	if (addr < blocks->head_bytes)
		return false;
	extent = find_extent(blocks, head_addr);
	if (!extent)
		return false;
	if (extent->kind != EXTENT_CHAIN)
		read_unit(blocks, extent,
			  (head_addr - extent->start_addr) / extent->unit_bytes, &block);
	else if (!find_in_chain(blocks, extent, head_addr, &block))
		return false;
	block.extent = (uint32_t)(extent - blocks->extents);
	block.state = state_of(blocks, block.bit);
	refine_slot(blocks, extent, &block);
	/*
	 * a block of 0 bytes, as returned by musl's malloc(0), still contains its own
	 * address
	 */
	if (addr < block.addr || addr - block.addr >= block.bytes + (block.bytes == 0))
		return false;
	*ret = block;
	return true;
}

bool blocks_next(const struct blocks *blocks, struct block_place *place,
		 struct block *ret)
{
	for (; place->extent < blocks->extent_count; place->extent++, place->addr = 0) {
		const struct extent *extent = &blocks->extents[place->extent];
		uint64_t start = place->addr ? place->addr : extent->start_addr;

		if (start >= extent->end_addr)
			continue;
		if (extent->kind != EXTENT_CHAIN) {
			read_unit(blocks, extent,
				  (start - extent->start_addr) / extent->unit_bytes, ret);
			place->addr = start + extent->unit_bytes;
		} else {
			if (!read_chain(blocks, start, ret))
				continue;
			place->addr = start + ret->bytes + 8 + blocks->chain_end_bytes;
		}
		ret->extent = (uint32_t)place->extent;
		ret->state = state_of(blocks, ret->bit);
		refine_slot(blocks, extent, ret);
		return true;
	}
	return false;
}

/*
 * Set the bits [first, limit). If `mask` is not NULL, set only the bits that are
 * set in `mask`.
 */
static void set_bits(uint64_t *bits, const uint64_t *mask, uint64_t first, uint64_t limit)
{
	while (first < limit) {
		uint64_t end = (first / 64 + 1) * 64;
		uint64_t word = UINT64_MAX << first % 64;

		if (limit < end)
			word &= (UINT64_C(1) << limit % 64) - 1;
		bits[first / 64] |= mask ? word & mask[first / 64] : word;
		first = end;
	}
}

void blocks_set_live(const struct blocks *blocks, uint64_t *bits)
{
	for (size_t i = 0; i < blocks->extent_count; i++) {
		const struct extent *e = &blocks->extents[i];
		uint64_t length = e->end_addr - e->start_addr;

		if (e->kind == EXTENT_CHAIN)
			set_bits(bits, blocks->starts,
				 bits_below(blocks->image, e->start_addr),
				 bits_below(blocks->image, e->end_addr));
		else
			set_bits(bits, NULL, e->first_bit,
				 e->first_bit +
					 (length + e->unit_bytes - 1) / e->unit_bytes);
	}
	for (uint64_t word = 0; word <= blocks->bit_count / 64; word++)
		bits[word] &= ~blocks->not_live[word];
}

bool blocks_skip_to(const struct blocks *blocks, const uint64_t *bits,
		    struct block_place *place)
{
	uint64_t word_count = blocks->bit_count / 64 + 1, addr, bit, word, rest;
	const struct extent *e;

	if (place->extent >= blocks->extent_count)
		return false;
	e = &blocks->extents[place->extent];
	bit = bits_below(blocks->image, place->addr ? place->addr : e->start_addr);
	word = bit / 64;
	rest = bits[word] & UINT64_MAX << bit % 64;
	while (rest == 0) {
		if (++word == word_count)
			return false;
		rest = bits[word];
	}
	addr = bit_addr(blocks->image, word * 64 + (uint64_t)__builtin_ctzll(rest));
	if (addr >= e->end_addr)
		place->extent = blocks_search_extent(blocks, addr);
	place->addr = addr;
	return true;
}
