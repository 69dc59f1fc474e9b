/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_check - check the walk of a damaged heap: sums that fit into the memory, blocks
 * that do not overlap, and a consistent mark.
 *
 * The first byte of an input selects whether the process ran and, for a fuzzer only, what
 * is checked. The rest are records, see damage.h.
 */
#ifndef MS_TESTS_HEAP_CHECK_H
#define MS_TESTS_HEAP_CHECK_H

#include "damage.h"
#include "fuzz.h"
#include "mark_check.h"
#include "../unit/support/made_memory.h"
#include "walk/blocks/detail.h"

/* Bits of the first byte. */
#define CHECK_BIT 0x40 /* check and mark the blocks */
#define RUNNING_BIT 0x80

/* The result of a walk. */
struct walked {
	const struct image *image;
	const struct mapping_list *mappings;
	const struct blocks *blocks;
	const struct heap *heap;
};

static inline void check_shares(const struct walked *w)
{
	for (size_t i = 0; i < w->heap->share_count; i++) {
		const struct heap_share *share = &w->heap->shares[i];
		const struct mapping *m;
		uint64_t sum = 0;

		CHECK(share->mapping < w->mappings->count);
		m = &w->mappings->items[share->mapping];
		for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
			sum += share->owner_bytes[o];
		CHECK(sum <= image_resident_bytes(w->image, m->start_addr, m->end_addr));
	}
}

/*
 * Check that blocks do not overlap, and that each is found by its first and its last
 * byte.
 */
static inline void check_blocks(const struct blocks *blocks)
{
	struct block_place place = { 0 };
	struct block block, found;
	uint64_t end = 0;

	while (blocks_next(blocks, &place, &block)) {
		CHECK(block.addr >= end);
		CHECK(block.bit < blocks->bit_count);
		end = block.addr + block.bytes;
		CHECK(end >= block.addr);
		CHECK(blocks_find(blocks, block.addr, &found));
		CHECK(found.addr == block.addr && found.bit == block.bit);
		CHECK(found.state == block.state);
		if (block.bytes > 0)
			CHECK(blocks_find(blocks, end - 1, &found) &&
			      found.addr == block.addr);
	}
}

/*
 * Check that the detail covers all live blocks, if it has blocks, and that its map has no
 * more pages than the fill levels.
 */
static inline void check_detail(const struct walked *w)
{
	struct block_place place = { 0 };
	uint64_t count = 0, bytes = 0, pages = 0, mapped = 0;
	struct heap_detail detail;
	struct block block;

	walk_detail(w->heap, w->blocks, NULL, &detail);
	for (size_t i = 0; i < detail.type_count; i++) {
		count += detail.types[i].live.count;
		bytes += detail.types[i].live.bytes;
		CHECK(detail.types[i].resident_bytes <= detail.types[i].live.bytes);
	}
	while (detail.has_blocks && blocks_next(w->blocks, &place, &block))
		if (block.state == BLOCK_LIVE) {
			count--;
			bytes -= block.bytes;
		}
	CHECK(count == 0 && bytes == 0);
	for (size_t i = 0; i < FILL_COUNT_; i++)
		pages += detail.fill[i].page_count;
	for (size_t i = 0; i < detail.strip_count; i++)
		mapped += detail.strips[i].sum.page_count;
	CHECK(mapped <= pages && pages <= w->image->length_bytes / IMAGE_PAGE_BYTES);
	heap_detail_release(&detail);
}

/* Check the walk of an input. Return whether the blocks were checked too. */
static inline bool heap_check(const struct walked *w, uint8_t first_byte)
{
	check_shares(w);
	CHECK((w->heap->quality == QUALITY_EXACT) == !w->heap->problem);
	if (w->heap->quality == QUALITY_UNKNOWN ||
	    !(fuzz_is_replay() || first_byte & CHECK_BIT))
		return false;
	check_blocks(w->blocks);
	check_mark(w->blocks, w->mappings);
	check_detail(w);
	return true;
}

/*
 * Damage the memory as the input says, walk and check it, and undo the damage, which must
 * have been initialised with the image of `made`.
 */
static inline void heap_check_made(struct made_memory *made, struct damage *damage,
				   made_memory_walker walk, const uint8_t *data,
				   size_t size)
{
	struct heap heap;
	const struct walked walked = { &made->image, &made->mappings, &made->blocks,
				       &heap };

	made->is_running = data[0] & RUNNING_BIT;
	damage_apply(damage, data + 1, size - 1);
	made_memory_walk(made, walk, &heap);
	(void)heap_check(&walked, data[0]);
	/* If memory stays allocated, libFuzzer repeats the input to look for leaks. */
	blocks_release(&made->blocks);
	heap_release(&heap);
	damage_undo(damage);
}

#endif
