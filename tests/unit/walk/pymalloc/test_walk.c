/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk of made-up arenas of Python: exact if intact, never wrong if damaged. */
#include "config.h"

#include "walk/walk.h"

#include <string.h>

#include "../../support/pymalloc_image.h"
#include "../../support/unit.h"

static struct pymalloc_image h;
static struct heap heap;

static void walk(void)
{
	heap_release(&heap);
	pymalloc_image_walk(&h, &heap);
}

static int begin(void **state)
{
	(void)state;
	pymalloc_image_init(&h, 16384, 32);
	heap_init(&heap);
	return 0;
}

static int end(void **state)
{
	(void)state;
	heap_release(&heap);
	pymalloc_image_release(&h);
	return 0;
}

static uint64_t resident_sum(void)
{
	uint64_t sum = 0;

	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		sum += heap.owner_bytes[o];
	return sum;
}

static const struct heap_space *find_space(const char *name)
{
	for (size_t i = 0; i < heap.space_count; i++)
		if (strcmp(heap.spaces[i].name, name) == 0)
			return &heap.spaces[i];
	fail_msg("no space '%s'", name);
	return NULL;
}

static void check_exact(void)
{
	assert_int_equal(heap.allocator, ALLOCATOR_PYTHON);
	assert_null(heap.problem);
	assert_int_equal(heap.quality, QUALITY_EXACT);
	assert_int_equal(heap.arenas[0].live.count, h.live.count);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes);
	assert_int_equal(heap.arenas[0].bin.count, h.free.count);
	assert_int_equal(heap.arenas[0].bin.bytes, h.free.bytes);
	assert_int_equal(find_space("arenas")->count, h.arena_count);
	assert_int_equal(find_space("pools in use")->count, 5);
	assert_int_equal(find_space("free pools")->count, h.free_pools);
	assert_int_equal(heap.owner_bytes[OWNER_LIVE], h.live.bytes);
	assert_int_equal(resident_sum(), h.resident_bytes);
}

static void each_layout_is_exact(void **state)
{
	static const struct {
		uint64_t pool_bytes;
		unsigned int class_count;
	} layouts[] = { { 16384, 32 }, { 4096, 32 }, { 4096, 64 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		pymalloc_image_release(&h);
		pymalloc_image_init(&h, layouts[i].pool_bytes, layouts[i].class_count);
		walk();
		check_exact();
		assert_int_equal(heap.class_count, layouts[i].class_count);
	}
}

static void each_block_has_a_state(void **state)
{
	struct block block;

	(void)state;
	walk();
	assert_true(blocks_find(&h.blocks, h.live_block_addr + 63, &block));
	assert_int_equal(block.addr, h.live_block_addr);
	assert_int_equal(block.bytes, 64);
	assert_int_equal(block.state, BLOCK_LIVE);
	assert_true(blocks_find(&h.blocks, h.freed_block_addr, &block));
	assert_int_equal(block.state, BLOCK_FREE);
	assert_false(blocks_find(&h.blocks, h.free_addr + 48, &block));
	assert_false(blocks_find(&h.blocks, h.partial_addr, &block));
}

/* Each change of one word must be noticed: the result is then only an estimate. */
static void damage_is_noticed(void **state)
{
	const uint64_t object = h.array_addr + 48 * 2;
	const struct {
		const char *what;
		uint64_t addr, value;
	} rows[] = {
		{ "a count of live blocks", h.partial_addr, 6 },
		{ "a list of free blocks with a cycle", h.freed_block_addr,
		  h.freed_block_addr },
		{ "a free block in another pool", h.freed_block_addr, h.full_addr + 48 },
		{ "a free block that was never used", h.freed_block_addr,
		  h.partial_addr + 48 + 64 * 20 },
		{ "a free block between two blocks", h.freed_block_addr,
		  h.freed_block_addr + 64 + 8 },
		{ "the arena of a pool", h.full_addr + 32, 1 | UINT64_C(3) << 32 },
		{ "a class that does not exist", h.full_addr + 32,
		  2 | UINT64_C(32) << 32 },
		{ "an offset before the first block", h.full_addr + 40, 8 },
		{ "a free pool that is its own successor", h.free_addr + 16,
		  h.free_addr },
		{ "a free pool outside of the arena", h.free_addr + 16, h.array_addr },
		{ "a count of free pools", object + 16, 7 | UINT64_C(64) << 32 },
		{ "a count of pools", object + 16, 60 | UINT64_C(0xffffffff) << 32 },
		{ "an arena that is not mapped", h.array_addr + 48 * 4, 0x7f9000001000 },
		{ "an arena at the end of the addresses", h.array_addr + 48 * 4,
		  0xfffffffffffff000 },
		{ "a third arena over the first", h.array_addr + 48 * 5, 0x7e3000000000 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t before = pymalloc_image_read(&h, rows[i].addr);

		pymalloc_image_write(&h, rows[i].addr, rows[i].value);
		walk();
		assert_row(heap.quality == QUALITY_ESTIMATE, rows[i].what);
		assert_row(heap.problem != NULL, rows[i].what);
		assert_row(resident_sum() <= h.resident_bytes, rows[i].what);
		pymalloc_image_write(&h, rows[i].addr, before);
	}
	walk();
	check_exact();
}

static void a_row_without_pools_or_arenas_is_no_heap(void **state)
{
	(void)state;
	pymalloc_image_write(&h, h.arenas_word_addr, h.array_addr + 48);
	walk();
	assert_int_equal(heap.allocator, ALLOCATOR_UNKNOWN);
	assert_int_equal(heap.quality, QUALITY_UNKNOWN);
	assert_non_null(heap.problem);
	pymalloc_image_write(&h, h.arenas_word_addr, h.array_addr);
	/* empty rings, as in the bins of glibc's malloc */
	for (uint64_t pair = h.used_addr; pair < h.used_addr + 32 * 16; pair += 16) {
		pymalloc_image_write(&h, pair, pair - 16);
		pymalloc_image_write(&h, pair + 8, pair - 16);
	}
	walk();
	assert_int_equal(heap.allocator, ALLOCATOR_UNKNOWN);
}

static void a_missing_page_makes_its_pool_unknown(void **state)
{
	(void)state;
	/* the last run is the second arena: without its pages, it has no pool */
	h.image.run_count--;
	h.image.length_bytes = h.image.runs[h.image.run_count].offset_bytes;
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_int_equal(find_space("arenas")->count, 1);
}

static void the_heap_of_a_running_process_is_an_estimate(void **state)
{
	(void)state;
	h.is_running = true;
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes);
}

static void walk_heap_finds_the_heap_of_python(void **state)
{
	const struct walk_input input = { .image = &h.image, .mappings = &h.mappings };
	struct blocks blocks;

	(void)state;
	heap_release(&heap);
	walk_heap(&input, &heap, &blocks);
	assert_int_equal(heap.allocator, ALLOCATOR_PYTHON);
	assert_int_equal(heap_total_quality(&heap), QUALITY_EXACT);
	assert_int_equal(heap.other_count, 0);
	blocks_release(&blocks);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_layout_is_exact, begin, end),
		cmocka_unit_test_setup_teardown(each_block_has_a_state, begin, end),
		cmocka_unit_test_setup_teardown(damage_is_noticed, begin, end),
		cmocka_unit_test_setup_teardown(a_row_without_pools_or_arenas_is_no_heap,
						begin, end),
		cmocka_unit_test_setup_teardown(a_missing_page_makes_its_pool_unknown,
						begin, end),
		cmocka_unit_test_setup_teardown(
			the_heap_of_a_running_process_is_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(walk_heap_finds_the_heap_of_python, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
