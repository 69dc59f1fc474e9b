/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk of a made-up PHP heap: exact if intact, never wrong if damaged. */
#include "config.h"

#include "walk/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#include "../../support/unit.h"
#include "../../support/zend_image.h"

/* PHP up to 8.3, a build with more members, and PHP 8.4, which has shadow_key. */
static const struct zend_image_layout layouts[] = {
	{ 34, 39, 50 },
	{ 34, 41, 52 },
	{ 35, 40, 55 },
};

#define BIN_OF_64 7 /* index of the list of free blocks of 64 bytes */

static struct zend_image h;
static struct heap heap;

static void walk(void)
{
	heap_release(&heap);
	made_memory_walk(&h.memory, walk_zend, &heap);
}

static int begin(void **state)
{
	(void)state;
	zend_image_init(&h, &layouts[0]);
	heap_init(&heap);
	return 0;
}

static int end(void **state)
{
	(void)state;
	heap_release(&heap);
	made_memory_release(&h.memory);
	return 0;
}

static uint64_t resident_sum(void)
{
	uint64_t sum = 0;

	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		sum += heap.owner_bytes[o];
	return sum;
}

static void check_exact(void)
{
	assert_int_equal(heap.allocator, ALLOCATOR_PHP);
	assert_null(heap.problem);
	assert_int_equal(heap.quality, QUALITY_EXACT);
	assert_int_equal(heap.arenas[0].live.count, h.live.count);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes);
	assert_int_equal(heap.arenas[0].bin.count, h.free.count);
	assert_int_equal(heap.arenas[0].bin.bytes, h.free.bytes);
	assert_int_equal(heap.arenas[0].system_bytes, h.real_bytes);
	assert_int_equal(resident_sum(), h.resident_bytes);
	/* all but two pages of the huge block are not resident */
	assert_int_equal(heap.owner_bytes[OWNER_LIVE],
			 h.live.bytes - ZEND_CHUNK_BYTES - ZEND_PAGE_BYTES);
	/* pages 10 and 12 to 15 of the main chunk, and the cached chunk */
	assert_int_equal(heap.owner_bytes[OWNER_POOL_PAGES], 6 * ZEND_PAGE_BYTES);
	assert_int_equal(heap.owner_bytes[OWNER_POOL_FRAGMENTS], h.free.bytes);
}

static void all_layouts_are_exact(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		made_memory_release(&h.memory);
		zend_image_init(&h, &layouts[i]);
		walk();
		check_exact();
	}
}

static void each_block_has_a_state(void **state)
{
	struct block block;

	(void)state;
	walk();
	assert_true(blocks_find(&h.memory.blocks, h.live_block_addr + 63, &block));
	assert_int_equal(block.addr, h.live_block_addr);
	assert_int_equal(block.bytes, 64);
	assert_int_equal(block.state, BLOCK_LIVE);
	assert_true(blocks_find(&h.memory.blocks, h.free_block_addr, &block));
	assert_int_equal(block.state, BLOCK_FREE);
}

/* Each change of one word must be noticed: the result is not exact then. */
static void damage_is_noticed(void **state)
{
	const struct {
		const char *what;
		uint64_t addr, value;
	} rows[] = {
		{ "the sum of blocks", h.size_addr, 4096 },
		{ "the sum of chunks", h.real_size_addr, ZEND_CHUNK_BYTES },
		{ "a chunk of another heap", h.second_addr, h.main_addr },
		{ "a ring with a gap", h.second_addr + ZEND_CHUNK_NEXT, 0 },
		{ "a ring that is no ring", h.second_addr + ZEND_CHUNK_NEXT,
		  h.second_addr },
		{ "a cached chunk twice", h.cached_addr + ZEND_CHUNK_NEXT,
		  h.cached_addr },
		{ "a cached chunk in the ring", h.cached_addr + ZEND_CHUNK_NEXT,
		  h.second_addr },
		{ "a count of free pages", h.second_addr + ZEND_CHUNK_FREE_PAGES, 3 },
		{ "a bitmap", h.bitmap_addr, 0xfff },
		{ "a run of free pages", h.map_addr + 4 * 8, 0x4000000340000003 },
		{ "a run of no pages", h.map_addr + 4 * 8, 0xc000000040000000 },
		{ "a bin that does not exist", h.map_addr + 4 * 8, 0x8000001e },
		{ "a free list outside the runs", h.free_block_addr, h.main_addr + 64 },
		{ "a free list in another bin", h.free_block_addr,
		  h.main_addr + ZEND_PAGE_BYTES },
		{ "a free block twice", h.free_block_addr, h.free_block_addr },
		{ "a free list inside a block", h.free_block_addr,
		  h.live_block_addr + 8 },
		{ "a huge block twice", h.main_addr + 11 * ZEND_PAGE_BYTES + 72 + 16,
		  h.main_addr + 11 * ZEND_PAGE_BYTES + 72 },
		{ "a huge block over a chunk", h.main_addr + 11 * ZEND_PAGE_BYTES + 72,
		  h.second_addr },
		{ "a huge block of odd size", h.main_addr + 11 * ZEND_PAGE_BYTES + 72 + 8,
		  4095 },
		{ "a huge block that fits into a chunk",
		  h.main_addr + 11 * ZEND_PAGE_BYTES + 72 + 8, 4096 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t before = made_memory_read(&h.memory, rows[i].addr);

		made_memory_write(&h.memory, rows[i].addr, rows[i].value);
		walk();
		assert_row(heap.quality < QUALITY_BOUND, rows[i].what);
		assert_row(heap.problem != NULL, rows[i].what);
		assert_row(resident_sum() <= h.resident_bytes, rows[i].what);
		made_memory_write(&h.memory, rows[i].addr, before);
	}
	walk();
	check_exact();
}

/*
 * PHP's collector frees blocks one by one: it subtracts a block from the sum, writes the
 * list into the block, and then makes the block the first one of the list.
 */
static void a_block_that_is_being_freed_makes_an_estimate(void **state)
{
	uint64_t first_addr = made_memory_read(&h.memory, h.slots_addr + 8 * BIN_OF_64);

	(void)state;
	assert_int_equal(first_addr, h.free_block_addr);
	made_memory_write(&h.memory, h.size_addr, h.live.bytes - 64);
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_non_null(strstr(heap.problem, "changing its heap"));
	made_memory_write(&h.memory, h.live_block_addr, first_addr);
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	made_memory_write(&h.memory, h.slots_addr + 8 * BIN_OF_64, h.live_block_addr);
	walk();
	assert_int_equal(heap.quality, QUALITY_EXACT);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes - 64);
}

/*
 * Free the only block of the second chunk, so that gc_mem_caches() would unmap the chunk.
 */
static void free_second_chunk(void)
{
	uint64_t bitmap = h.second_addr + (h.bitmap_addr - h.main_addr);

	made_memory_write(&h.memory, h.counters_addr, 0); /* no cached chunk */
	made_memory_write(&h.memory, h.counters_addr + 16, 0);
	made_memory_write(&h.memory, h.real_size_addr, h.real_bytes - ZEND_CHUNK_BYTES);
	made_memory_write(&h.memory, bitmap, 1);
	made_memory_write_u32(&h.memory, h.second_addr + ZEND_CHUNK_FREE_PAGES,
			      ZEND_PAGES - 1);
	made_memory_write(&h.memory, h.size_addr, h.live.bytes - 3 * ZEND_PAGE_BYTES);
}

static void empty_chunks_can_be_trimmed(void **state)
{
	const double average = 1;
	uint64_t word;

	(void)state;
	walk();
	/* the order of the list of unused chunks decides what would be returned */
	assert_int_equal(heap.trimmable_bytes, BYTES_UNKNOWN);
	free_second_chunk();
	walk();
	assert_int_equal(heap.quality, QUALITY_EXACT);
	assert_int_equal(heap.trimmable_bytes, 4 * ZEND_PAGE_BYTES);
	/* 1 chunk remains, which is below the average + 0.1: PHP keeps the other one */
	memcpy(&word, &average, sizeof(word));
	made_memory_write(&h.memory, h.counters_addr + 24, word);
	walk();
	assert_int_equal(heap.trimmable_bytes, BYTES_UNKNOWN);
	/* after 4 deletions at the same number of chunks, PHP keeps one, too */
	made_memory_write(&h.memory, h.counters_addr + 24, 0);
	made_memory_write(&h.memory, h.counters_addr + 32, 1 | UINT64_C(3) << 32);
	walk();
	assert_int_equal(heap.trimmable_bytes, 4 * ZEND_PAGE_BYTES);
	made_memory_write(&h.memory, h.counters_addr + 32, 1 | UINT64_C(4) << 32);
	walk();
	assert_int_equal(heap.trimmable_bytes, BYTES_UNKNOWN);
}

static void without_a_main_chunk_there_is_no_heap(void **state)
{
	(void)state;
	made_memory_write(&h.memory, h.main_addr, h.main_addr + 72);
	walk();
	assert_int_equal(heap.allocator, ALLOCATOR_UNKNOWN);
	assert_non_null(heap.problem);
}

static void the_heap_of_a_running_process_is_an_estimate(void **state)
{
	(void)state;
	h.memory.is_running = true;
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes);
}

static void no_heap_is_found_in_the_memory_of_another_runtime(void **state)
{
	size_t pages = h.memory.image.length_bytes / IMAGE_PAGE_BYTES;
	uint8_t *claimed = malloc(pages);

	(void)state;
	assert_non_null(claimed);
	memset(claimed, 1, pages);
	h.memory.claimed = claimed;
	walk();
	assert_int_equal(heap.allocator, ALLOCATOR_UNKNOWN);
	memset(claimed, 0, pages);
	walk();
	check_exact();
	free(claimed);
}

static void walk_heap_finds_the_heap_of_php(void **state)
{
	const struct walk_input input = { .image = &h.memory.image,
					  .mappings = &h.memory.mappings };
	struct blocks blocks;

	(void)state;
	heap_release(&heap);
	walk_heap(&input, &heap, &blocks);
	assert_int_equal(heap.allocator, ALLOCATOR_PHP);
	assert_int_equal(heap_total_quality(&heap), QUALITY_EXACT);
	assert_non_null(heap.evidence);
	blocks_release(&blocks);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_layouts_are_exact, begin, end),
		cmocka_unit_test_setup_teardown(each_block_has_a_state, begin, end),
		cmocka_unit_test_setup_teardown(damage_is_noticed, begin, end),
		cmocka_unit_test_setup_teardown(
			a_block_that_is_being_freed_makes_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(empty_chunks_can_be_trimmed, begin, end),
		cmocka_unit_test_setup_teardown(without_a_main_chunk_there_is_no_heap,
						begin, end),
		cmocka_unit_test_setup_teardown(
			the_heap_of_a_running_process_is_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(
			no_heap_is_found_in_the_memory_of_another_runtime, begin, end),
		cmocka_unit_test_setup_teardown(walk_heap_finds_the_heap_of_php, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
