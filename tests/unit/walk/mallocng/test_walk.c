/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk of a made-up heap of mallocng: exact if intact, never wrong if damaged. */
#include "config.h"

#include "walk/walk.h"

#include <string.h>

#include "../../support/mallocng_image.h"
#include "../../support/unit.h"

#define PAGE UINT64_C(4096)

static struct mallocng_image h;
static struct heap heap;

static void walk(void)
{
	heap_release(&heap);
	mallocng_image_walk(&h, &heap);
}

static int begin(void **state)
{
	(void)state;
	mallocng_image_init(&h);
	heap_init(&heap);
	return 0;
}

static int end(void **state)
{
	(void)state;
	heap_release(&heap);
	mallocng_image_release(&h);
	return 0;
}

static uint64_t resident_sum(void)
{
	uint64_t sum = 0;

	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		sum += heap.owner_bytes[o];
	return sum;
}

/* Count the live blocks of the list, and sum their sizes. */
static struct chunk_sum list_live(void)
{
	struct chunk_sum sum = { 0, 0 };
	struct block_place place = { 0 };
	struct block block;

	while (blocks_next(&h.blocks, &place, &block))
		if (block.state == BLOCK_LIVE)
			chunk_sum_add(&sum, block.bytes);
	return sum;
}

static void an_intact_heap_is_exact(void **state)
{
	struct chunk_sum listed;

	(void)state;
	walk();
	assert_int_equal(heap.allocator, ALLOCATOR_MUSL);
	assert_null(heap.problem);
	assert_int_equal(heap.quality, QUALITY_EXACT);
	assert_int_equal(heap.arenas[0].live.count, h.live.count);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes);
	assert_int_equal(heap.arenas[0].bin.count, h.free.count);
	assert_int_equal(heap.arenas[0].bin.bytes, h.free.bytes);
	assert_int_equal(heap.mapped.count, 1);
	assert_int_equal(heap.mapped.bytes, h.mapped_bytes);
	listed = list_live();
	assert_int_equal(listed.count, h.live_count);
	assert_int_equal(listed.bytes, h.requested_bytes);
	/* the areas, the groups' pages, the mapped block, and the donated group */
	assert_int_equal(resident_sum(), (2 + 2 + 5) * PAGE + 16 + 192);
}

static void each_block_has_its_own_address_and_size(void **state)
{
	struct block block;

	(void)state;
	walk();
	assert_true(blocks_find(&h.blocks, h.aligned_addr + 19, &block));
	assert_int_equal(block.addr, h.aligned_addr);
	assert_int_equal(block.bytes, 20);
	assert_false(blocks_find(&h.blocks, h.aligned_addr + 20, &block));
	assert_false(blocks_find(&h.blocks, h.aligned_addr - 1, &block));
	assert_true(blocks_find(&h.blocks, h.mapped_addr + 17999, &block));
	assert_int_equal(block.addr, h.mapped_addr);
	assert_int_equal(block.bytes, 18000);
	assert_true(blocks_find(&h.blocks, h.empty_addr, &block));
	assert_int_equal(block.bytes, 0);
	/* the slot with the nested group is not a block */
	assert_false(blocks_find(&h.blocks, h.nested_addr, &block));
	assert_true(blocks_find(&h.blocks, h.first_area_addr, &block));
	assert_int_equal(block.state, BLOCK_OWN);
}

static void a_page_without_group_or_context_makes_no_heap(void **state)
{
	(void)state;
	mallocng_image_write(&h, h.context_addr + 56, h.first_area_addr + 8);
	walk();
	assert_int_equal(heap.allocator, ALLOCATOR_UNKNOWN);
	assert_int_equal(heap.quality, QUALITY_UNKNOWN);
	assert_non_null(heap.problem);
}

static void a_missing_or_cyclic_area_makes_the_heap_unknown(void **state)
{
	static const uint64_t nexts[] = { 0x7f5000000000, 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(nexts); i++) {
		mallocng_image_write(&h, h.second_area_addr + 8,
				     nexts[i] ? nexts[i] : h.first_area_addr);
		walk();
		assert_int_equal(heap.allocator, ALLOCATOR_MUSL);
		assert_int_equal(heap.quality, QUALITY_UNKNOWN);
		assert_non_null(heap.problem);
	}
}

/* Each change of one word must be noticed: the result is then only an estimate. */
static void damage_is_noticed(void **state)
{
	const struct {
		const char *what;
		uint64_t addr, value;
	} rows[] = {
		{ "a group that does not lead to its meta", h.outer_addr, 8 },
		{ "masks that overlap", h.outer_meta_addr + 24, 0x000000ff000000ff },
		{ "a mask with too many slots", h.outer_meta_addr + 24, 0x100 },
		{ "an unknown class", h.outer_meta_addr + 32,
		  7 | 1 << 5 | 50 << 6 | 1 << 12 },
		{ "a group larger than its mapping", h.outer_meta_addr + 32,
		  31 | 1 << 5 | 15 << 6 | 1 << 12 },
		{ "a group outside of memory", h.mapped_meta_addr + 32,
		  0 | 1 << 5 | 63 << 6 | UINT64_C(6) << 12 },
		{ "a group with more pages than addresses", h.mapped_meta_addr + 32,
		  0 | 1 << 5 | 63 << 6 | UINT64_MAX << 12 },
		{ "a nested group in a free slot", h.outer_meta_addr + 24,
		  UINT64_C(0x3c000000c0) },
		{ "a group in no slot", h.nested_meta_addr + 16, h.nested_addr + 16 },
		{ "a nested group larger than its slot", h.nested_meta_addr + 32,
		  7 | 1 << 5 | 3 << 6 },
		{ "the header of a slot", h.outer_addr + 16 + 496 - 8, 0 },
		{ "a count of slots", h.context_addr + 464 + 8 * 15, 9 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t before = mallocng_image_read(&h, rows[i].addr);

		mallocng_image_write(&h, rows[i].addr, rows[i].value);
		walk();
		assert_row(heap.quality == QUALITY_ESTIMATE, rows[i].what);
		assert_row(heap.problem != NULL, rows[i].what);
		assert_row(resident_sum() <= 12 * PAGE, rows[i].what);
		mallocng_image_write(&h, rows[i].addr, before);
	}
	walk();
	assert_int_equal(heap.quality, QUALITY_EXACT);
}

static void a_group_that_covers_an_area_is_refused(void **state)
{
	(void)state;
	/* the block with its own mapping claims the page with the second meta area */
	mallocng_image_write(&h, h.mapped_meta_addr + 16, h.second_area_addr - PAGE);
	mallocng_image_write(&h, h.second_area_addr - PAGE, h.mapped_meta_addr);
	mallocng_image_write(&h, h.mapped_meta_addr + 32,
			     0 | 1 << 5 | 63 << 6 | UINT64_C(2) << 12);
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_int_equal(heap.mapped.count, 0);
}

static void the_heap_of_a_running_process_is_an_estimate(void **state)
{
	(void)state;
	h.is_running = true;
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes);
}

static void walk_heap_keeps_the_heap_of_musl(void **state)
{
	const struct walk_input input = { .image = &h.image, .mappings = &h.mappings };
	struct blocks blocks;

	(void)state;
	heap_release(&heap);
	walk_heap(&input, &heap, &blocks);
	assert_int_equal(heap.allocator, ALLOCATOR_MUSL);
	assert_int_equal(heap.quality, QUALITY_EXACT);
	blocks_release(&blocks);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_intact_heap_is_exact, begin, end),
		cmocka_unit_test_setup_teardown(each_block_has_its_own_address_and_size,
						begin, end),
		cmocka_unit_test_setup_teardown(
			a_page_without_group_or_context_makes_no_heap, begin, end),
		cmocka_unit_test_setup_teardown(
			a_missing_or_cyclic_area_makes_the_heap_unknown, begin, end),
		cmocka_unit_test_setup_teardown(damage_is_noticed, begin, end),
		cmocka_unit_test_setup_teardown(a_group_that_covers_an_area_is_refused,
						begin, end),
		cmocka_unit_test_setup_teardown(
			the_heap_of_a_running_process_is_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(walk_heap_keeps_the_heap_of_musl, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
