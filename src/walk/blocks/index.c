/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/blocks/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "walk/blocks/slot.h"

/* Flag bits in the size word of a glibc chunk, as defined in blocks.c. */
#define SIZE_FLAGS UINT64_C(7)

#define PAGE_BITS (IMAGE_PAGE_BYTES / BLOCK_ALIGN)
#define PAGE_WORDS (PAGE_BITS / 64)

static void add_page(struct block_index *index, uint64_t addr, uint32_t number)
{
	struct index_upper **upper = &index->top[index_slot(addr, 3)];
	struct index_middle **middle;
	struct index_leaf **leaf;

	if (!*upper)
		*upper = xcalloc(1, sizeof(**upper));
	middle = &(*upper)->middles[index_slot(addr, 2)];
	if (!*middle)
		*middle = xcalloc(1, sizeof(**middle));
	leaf = &(*middle)->leaves[index_slot(addr, 1)];
	if (!*leaf)
		*leaf = xcalloc(1, sizeof(**leaf));
	(*leaf)->numbers[index_slot(addr, 0)] = number + 1;
}

/*
 * Find the last block that starts on the page and whose bit number within the page is at
 * most `limit`. Return its bit in the table `starts`, or BIT_NONE.
 */
static uint64_t last_start(const struct blocks *blocks, uint64_t number, uint64_t limit)
{
	const uint64_t *words = &blocks->starts[number * PAGE_WORDS];
	uint64_t i = limit / 64;
	uint64_t rest = words[i] & (UINT64_MAX >> (63 - limit % 64));

	while (rest == 0) {
		if (i == 0)
			return BIT_NONE;
		rest = words[--i];
	}
	return number * PAGE_BITS + i * 64 + 63 - (uint64_t)__builtin_clzll(rest);
}

/*
 * Return true if the bit table has a bit for each 16 bytes of the image, which is the
 * case only for glibc's heaps.
 */
static bool has_starts(const struct blocks *blocks)
{
	return blocks->bit_count >= blocks->image->length_bytes / BLOCK_ALIGN;
}

/*
 * Return true if part of the page at addr is between the start of the first extent and
 * the end of the last. The index is never searched for an address on any other page.
 */
static bool may_hold_page(const struct block_index *index, uint64_t addr)
{
	return !(addr >> INDEX_ADDR_BITS) && addr + IMAGE_PAGE_BYTES > index->low_addr &&
	       addr < index->low_addr + index->span_bytes;
}

static void fill_pages(struct block_index *index)
{
	const struct blocks *blocks = index->blocks;
	const struct image *image = blocks->image;
	bool chains = has_starts(blocks);
	uint64_t head_bit = BIT_NONE;
	uint32_t number = 0, extent = 0;

	for (uint32_t run = 0; run < image->run_count; run++) {
		uint64_t addr = image->runs[run].start_addr;

		for (; addr < image->runs[run].end_addr;
		     addr += IMAGE_PAGE_BYTES, number++) {
			uint64_t last = chains ? last_start(blocks, number, PAGE_BITS - 1)
					       : BIT_NONE;

			while (extent < blocks->extent_count &&
			       blocks->extents[extent].end_addr <= addr)
				extent++;
			index->pages[number] =
				(struct block_page){ addr, head_bit, extent, run };
			if (may_hold_page(index, addr))
				add_page(index, addr, number);
			if (last != BIT_NONE)
				head_bit = last;
		}
	}
}

void block_index_init(struct block_index *index, const struct blocks *blocks)
{
	size_t count = blocks->extent_count;

	*index = (struct block_index){ .blocks = blocks };
	if (count == 0)
		return;
	index->pages =
		xcalloc((size_t)(blocks->image->length_bytes / IMAGE_PAGE_BYTES + 1),
			sizeof(*index->pages));
	index->low_addr = blocks->extents[0].start_addr;
	index->span_bytes = blocks->extents[count - 1].end_addr - index->low_addr;
	fill_pages(index);
}

static void free_upper(struct index_upper *upper)
{
	for (size_t i = 0; i < INDEX_TABLE_LENGTH; i++) {
		struct index_middle *middle = upper->middles[i];

		if (!middle)
			continue;
		for (size_t k = 0; k < INDEX_TABLE_LENGTH; k++)
			if (middle->leaves[k])
				free(middle->leaves[k]);
		free(middle);
	}
	free(upper);
}

void block_index_release(struct block_index *index)
{
	for (size_t i = 0; i < INDEX_TABLE_LENGTH; i++)
		if (index->top[i])
			free_upper(index->top[i]);
	free(index->pages);
	*index = (struct block_index){ 0 };
}

/*
 * Return the index of the extent that contains addr, or extent_count if not found.
 * The search begins at the extent with the given index.
 */
static size_t extent_from(const struct blocks *blocks, size_t extent, uint64_t addr)
{
	while (extent < blocks->extent_count && blocks->extents[extent].end_addr <= addr)
		extent++;
	return extent < blocks->extent_count && blocks->extents[extent].start_addr <= addr
		       ? extent
		       : blocks->extent_count;
}

/*
 * Read the header of the slot that contains the block. Return false if the block is not
 * in a slot.
 */
static bool read_slot(const struct blocks *blocks, const struct block_ref *ref,
		      struct slot *ret)
{
	const struct extent *e = &blocks->extents[ref->extent];
	uint64_t start = e->start_addr + (ref->bit - e->first_bit) * e->unit_bytes;

	return e->kind == EXTENT_SLOTS && !bit_is_set(blocks->not_live, ref->bit) &&
	       slot_read(blocks->image, start, e->unit_bytes, ret) && !ret->has_group;
}

/*
 * Set ref->addr from the header of the slot. Return false if the address `at` is in the
 * slot, but outside the block: the unused end of the slot may contain old data.
 */
static bool narrow_to_block(const struct blocks *blocks, uint64_t at,
			    struct block_ref *ref)
{
	struct slot slot;

	if (!read_slot(blocks, ref, &slot))
		return true;
	ref->addr = slot.addr;
	return at == slot.addr || at - slot.addr < slot.bytes;
}

static bool find_unit(const struct blocks *blocks, size_t extent, uint64_t at,
		      struct block_ref *ret)
{
	const struct extent *e = &blocks->extents[extent];
	uint64_t offset = at - e->start_addr;
	/* avoid a slow division in extents with only one block */
	uint64_t unit = offset < e->unit_bytes ? 0 : offset / e->unit_bytes;

	if (offset - unit * e->unit_bytes >= e->unit_bytes - blocks->head_bytes)
		return false;
	ret->addr = e->start_addr + unit * e->unit_bytes + blocks->head_bytes;
	ret->bit = e->first_bit + unit;
	ret->extent = (uint32_t)extent;
	return e->kind != EXTENT_SLOTS || narrow_to_block(blocks, at, ret);
}

static uint64_t chain_bytes(const struct blocks *blocks, uint64_t bit)
{
	uint64_t size;

	memcpy(&size, blocks->image->bytes + bit * BLOCK_ALIGN + 8, sizeof(size));
	/* the block's usable bytes include the first word of the next block's head */
	return (size & ~SIZE_FLAGS) - 8 - blocks->chain_end_bytes;
}

/*
 * If the chunk whose head has the given bit contains the address `at`, store its block in
 * *ret and return true.
 */
static bool check_chain(const struct block_index *index, size_t extent, uint64_t at,
			uint64_t bit, struct block_ref *ret)
{
	const struct blocks *blocks = index->blocks;
	uint64_t head;

	if (bit == BIT_NONE)
		return false;
	head = index->pages[bit / PAGE_BITS].addr + bit % PAGE_BITS * BLOCK_ALIGN;
	if (at != head && (head < blocks->extents[extent].start_addr ||
			   at - head >= chain_bytes(blocks, bit)))
		return false;
	ret->addr = head + blocks->head_bytes;
	ret->bit = bit;
	ret->extent = (uint32_t)extent;
	return true;
}

/*
 * Find the block at an address whose page is not in the image. In a glibc heap, the head
 * of such a block is on an earlier page.
 */
static bool find_absent(const struct block_index *index, uint64_t at,
			struct block_ref *ret)
{
	const struct blocks *blocks = index->blocks;
	const struct image *image = blocks->image;
	size_t extent = extent_from(blocks, blocks_search_extent(blocks, at), at);
	size_t run;
	uint64_t number, bit;

	if (extent == blocks->extent_count)
		return false;
	if (blocks->extents[extent].kind != EXTENT_CHAIN)
		return find_unit(blocks, extent, at, ret);
	run = image_find_run(image, at);
	if (run == 0 || !index->pages || !has_starts(blocks))
		return false;
	number = (image->runs[run - 1].offset_bytes + image->runs[run - 1].end_addr -
		  image->runs[run - 1].start_addr) /
			 IMAGE_PAGE_BYTES -
		 1;
	bit = last_start(blocks, number, PAGE_BITS - 1);
	return check_chain(index, extent, at,
			   bit != BIT_NONE ? bit : index->pages[number].head_bit, ret);
}

bool block_index_find(const struct block_index *index, uint64_t addr,
		      struct block_ref *ret)
{
	const struct blocks *blocks = index->blocks;
	uint64_t at = addr - blocks->head_bytes;
	const struct block_page *page;
	uint64_t number, bit;
	size_t extent;

	if (!block_index_may_hold(index, at))
		return false;
	page = block_index_page(index, at);
	if (!page)
		return find_absent(index, at, ret);
	extent = extent_from(blocks, page->extent, at);
	if (extent == blocks->extent_count)
		return false;
	if (blocks->extents[extent].kind != EXTENT_CHAIN)
		return find_unit(blocks, extent, at, ret);
	number = (uint64_t)(page - index->pages);
	bit = last_start(blocks, number, at % IMAGE_PAGE_BYTES / BLOCK_ALIGN);
	return check_chain(index, extent, at, bit != BIT_NONE ? bit : page->head_bit,
			   ret);
}

uint64_t block_index_bytes(const struct block_index *index, const struct block_ref *ref)
{
	const struct blocks *blocks = index->blocks;
	const struct extent *e = &blocks->extents[ref->extent];
	struct slot slot;

	if (read_slot(blocks, ref, &slot))
		return slot.bytes;
	return e->kind == EXTENT_CHAIN ? chain_bytes(blocks, ref->bit)
				       : e->unit_bytes - blocks->head_bytes;
}
