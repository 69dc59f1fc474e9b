/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/blocks/blocks.h"

#include "../../support/heap_image.h"
#include "../../support/unit.h"

/* A walked heap of the glibc version given by kind. */
struct walked {
	struct heap_image h;
	struct heap heap;
};

static void walked_init(struct walked *w, size_t kind)
{
	heap_image_init(&w->h, &heap_kinds[kind]);
	heap_image_walk(&w->h, &w->heap);
	assert_int_equal(w->heap.quality, QUALITY_EXACT);
}

static void walked_release(struct walked *w)
{
	heap_release(&w->heap);
	heap_image_release(&w->h);
}

static void blocks_are_listed_once_in_order_with_their_state(void **state)
{
	(void)state;
	for (size_t i = 0; i < heap_kind_count; i++) {
		const char *row = heap_kinds[i].version;
		struct chunk_sum sums[BLOCK_OWN + 1] = { 0 };
		struct block_place place = { 0 };
		struct walked w;
		struct block block;
		uint64_t end = 0;

		walked_init(&w, i);
		while (blocks_next(&w.h.blocks, &place, &block)) {
			assert_row(block.addr >= end, row);
			end = block.addr + block.bytes;
			/* all of an mmapped chunk is usable except its header */
			chunk_sum_add(&sums[block.state], block.bytes + 8);
		}
		assert_row(sums[BLOCK_LIVE].count == w.h.live.count + 1, row);
		assert_row(sums[BLOCK_LIVE].bytes ==
				   w.h.live.bytes + w.h.mapped.bytes - 8,
			   row);
		assert_row(sums[BLOCK_CACHED].bytes == w.h.cached.bytes, row);
		assert_row(sums[BLOCK_CACHED].count == w.h.cached.count, row);
		/* the tops of both arenas, too; their last word is in use */
		assert_row(sums[BLOCK_FREE].count == w.h.bin.count + w.h.fast.count + 2,
			   row);
		assert_row(sums[BLOCK_FREE].bytes ==
				   w.h.bin.bytes + w.h.fast.bytes + w.h.top_bytes - 16,
			   row);
		assert_row(sums[BLOCK_OWN].count == 1, row);
		walked_release(&w);
	}
}

static void a_block_is_found_only_by_addresses_inside_it(void **state)
{
	struct block_place place = { 0 };
	struct block block, found;
	struct walked w;

	(void)state;
	walked_init(&w, 4);
	while (blocks_next(&w.h.blocks, &place, &block)) {
		const uint64_t inside[] = { 0, 1, block.bytes / 2, block.bytes - 1 };

		for (size_t i = 0; i < 4; i++) {
			assert_true(
				blocks_find(&w.h.blocks, block.addr + inside[i], &found));
			assert_int_equal(found.addr, block.addr);
			assert_int_equal(found.bytes, block.bytes);
			assert_int_equal(found.bit, block.bit);
			assert_int_equal(found.state, block.state);
		}
		/* the word before a block is its size */
		assert_false(blocks_find(&w.h.blocks, block.addr - 1, &found));
		assert_false(blocks_find(&w.h.blocks, block.addr - 8, &found));
	}
	walked_release(&w);
}

static void addresses_outside_the_heap_have_no_block(void **state)
{
	const uint64_t nowhere[] = { 0, 8, 16, UINT64_MAX, UINT64_MAX - 15, 0x1000 };
	struct block block;
	struct walked w;

	(void)state;
	walked_init(&w, 4);
	for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++)
		assert_false(blocks_find(&w.h.blocks, nowhere[i], &block));
	assert_false(blocks_find(&w.h.blocks, w.h.main_arena_addr, &block));
	assert_false(blocks_find(&w.h.blocks, w.h.thread_addr, &block));
	walked_release(&w);
}

static void a_block_is_found_by_an_address_on_a_missing_page(void **state)
{
	uint64_t page, addr;
	struct block block;
	struct walked w;

	(void)state;
	walked_init(&w, 4);
	heap_release(&w.heap);
	/* the free chunk of 20000 bytes */
	addr = w.h.bin_addr + 16;
	page = (addr + 2 * IMAGE_PAGE_BYTES) & ~(IMAGE_PAGE_BYTES - 1);
	heap_image_drop(&w.h, page, page + IMAGE_PAGE_BYTES);
	heap_image_walk(&w.h, &w.heap);
	assert_true(blocks_find(&w.h.blocks, page + 100, &block));
	assert_int_equal(block.addr, addr);
	assert_int_equal(block.state, BLOCK_FREE);
	walked_release(&w);
}

static void a_damaged_arena_has_no_blocks(void **state)
{
	struct block block;
	struct walked w;

	(void)state;
	walked_init(&w, 4);
	heap_release(&w.heap);
	heap_image_write(&w.h, w.h.second_live_addr + 8, 1);
	heap_image_walk(&w.h, &w.heap);
	assert_non_null(w.heap.arenas[1].problem);
	assert_false(blocks_find(&w.h.blocks, w.h.second_live_addr + 16, &block));
	assert_true(blocks_find(&w.h.blocks, w.h.live_addr + 16, &block));
	assert_int_equal(block.state, BLOCK_LIVE);
	walked_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_listed_once_in_order_with_their_state),
		cmocka_unit_test(a_block_is_found_only_by_addresses_inside_it),
		cmocka_unit_test(addresses_outside_the_heap_have_no_block),
		cmocka_unit_test(a_block_is_found_by_an_address_on_a_missing_page),
		cmocka_unit_test(a_damaged_arena_has_no_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
