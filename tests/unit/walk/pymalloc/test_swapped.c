/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of Python's arenas that are swapped out: the figures are lower bounds. If the
 * same structure is corrupt, they are estimates.
 */
#include "config.h"

#include "walk/walk.h"

#include <string.h>

#include "../../support/made_memory.h"
#include "../../support/pymalloc_image.h"
#include "../../support/unit.h"

#define POOL_BYTES UINT64_C(16384)
#define CLASS_COUNT 32
#define HEAD_BYTES PYMALLOC_HEAD_BYTES
#define OBJECT_BYTES UINT64_C(48)
#define NEXT_POOL 16 /* offset of the pointer to the next pool in a pool's head */
#define NOT_COUNTED "pools of Python are swapped out and not counted"

/* Blocks of 64 bytes in a pool. */
#define BLOCK_BYTES UINT64_C(64)
#define BLOCKS_IN_POOL ((POOL_BYTES - HEAD_BYTES) / BLOCK_BYTES)

static struct pymalloc_image h;
static struct heap intact, heap;

static void walk(struct heap *ret)
{
	heap_release(ret);
	pymalloc_image_walk(&h, ret);
}

static int begin(void **state)
{
	(void)state;
	pymalloc_image_init(&h, POOL_BYTES, CLASS_COUNT);
	heap_init(&intact);
	heap_init(&heap);
	return 0;
}

static int end(void **state)
{
	(void)state;
	heap_release(&intact);
	heap_release(&heap);
	pymalloc_image_release(&h);
	return 0;
}

/* Walk the intact memory, which must be consistent. */
static void walk_intact(void)
{
	walk(&intact);
	assert_int_equal(intact.quality, QUALITY_EXACT);
}

/* Walk the memory without the page at addr, which is swapped out, or just missing. */
static void walk_without(uint64_t addr, bool is_swapped)
{
	made_memory_remove_page(&h.image, &h.mappings, addr, is_swapped);
	walk(&heap);
}

static void restart(void)
{
	end(NULL);
	begin(NULL);
}

static const struct heap_space *find_space(const struct heap *from, const char *name)
{
	for (size_t i = 0; i < from->space_count; i++)
		if (strcmp(from->spaces[i].name, name) == 0)
			return &from->spaces[i];
	fail_msg("no space '%s'", name);
	return NULL;
}

static void check_bound(const char *problem)
{
	assert_int_equal(heap.allocator, ALLOCATOR_PYTHON);
	assert_int_equal(heap.quality, QUALITY_BOUND);
	assert_string_equal(heap.problem, problem);
	/* all figures are lower bounds, except the size of the arenas, which is exact */
	assert_true(heap.arenas[0].live.bytes <= intact.arenas[0].live.bytes);
	assert_true(heap.arenas[0].bin.bytes <= intact.arenas[0].bin.bytes);
	assert_int_equal(heap.arenas[0].system_bytes, intact.arenas[0].system_bytes);
	for (size_t i = 0; i < heap.space_count; i++) {
		assert_true(heap.spaces[i].count <= intact.spaces[i].count);
		assert_true(heap.spaces[i].live_bytes <= intact.spaces[i].live_bytes);
		assert_true(heap.spaces[i].free_bytes <= intact.spaces[i].free_bytes);
	}
}

static void check_estimate(void)
{
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_null(strstr(heap.problem, "swapped out"));
}

static void pools_without_heads_are_not_counted(void **state)
{
	(void)state;
	walk_intact();
	walk_without(h.full_addr, true);
	check_bound(NOT_COUNTED);
	assert_int_equal(heap.arenas[0].live.count, h.live.count - BLOCKS_IN_POOL);
	assert_int_equal(heap.arenas[0].live.bytes,
			 h.live.bytes - BLOCKS_IN_POOL * BLOCK_BYTES);
	assert_int_equal(heap.arenas[0].bin.bytes, h.free.bytes);
	assert_int_equal(find_space(&heap, "pools in use")->count, 4);
}

/* A missing page of a mapping without swapped-out memory cannot be explained. */
static void pools_that_are_neither_there_nor_swapped_out_are_corrupt(void **state)
{
	(void)state;
	walk_intact();
	walk_without(h.full_addr, false);
	check_estimate();
}

/* Swapped-out memory does not excuse a structure whose page is resident. */
static void a_corrupt_pool_makes_an_estimate_although_memory_is_swapped_out(void **state)
{
	(void)state;
	walk_intact();
	pymalloc_image_write(&h, h.full_addr + 32, 1 | UINT64_C(3) << 32);
	walk_without(h.full_addr + IMAGE_PAGE_BYTES, true);
	check_estimate();
	restart();
	walk_intact();
	/* one pool is swapped out, and another one is corrupt */
	pymalloc_image_write(&h, h.freed_block_addr, h.freed_block_addr);
	walk_without(h.full_addr, true);
	check_estimate();
}

/* Free two blocks of the full pool, of which the second is on the pool's second page. */
static uint64_t free_two_blocks(void)
{
	uint64_t first = h.full_addr + HEAD_BYTES, pair = h.used_addr + 16 * 3;
	uint64_t second = first + 80 * BLOCK_BYTES;

	pymalloc_image_write(&h, h.full_addr, (BLOCKS_IN_POOL - 2) & UINT32_MAX);
	pymalloc_image_write(&h, h.full_addr + 8, first);
	pymalloc_image_write(&h, first, second);
	pymalloc_image_write(&h, second, 0);
	/* the pool follows the other pool of the class in usedpools[] */
	pymalloc_image_write(&h, h.partial_addr + NEXT_POOL, h.full_addr);
	pymalloc_image_write(&h, h.full_addr + NEXT_POOL, pair - 16);
	pymalloc_image_write(&h, h.full_addr + NEXT_POOL + 8, h.partial_addr);
	pymalloc_image_write(&h, pair + 8, h.full_addr);
	return second;
}

static void pools_with_swapped_out_free_blocks_are_not_counted(void **state)
{
	uint64_t live_bytes = (BLOCKS_IN_POOL - 2) * BLOCK_BYTES, second;

	(void)state;
	for (int is_swapped = 0; is_swapped < 2; is_swapped++) {
		restart();
		second = free_two_blocks();
		walk_intact();
		walk_without(second, is_swapped);
		if (!is_swapped) {
			check_estimate();
			continue;
		}
		check_bound(NOT_COUNTED);
		assert_int_equal(heap.arenas[0].live.bytes,
				 intact.arenas[0].live.bytes - live_bytes);
		assert_int_equal(heap.arenas[0].bin.bytes,
				 intact.arenas[0].bin.bytes - 2 * BLOCK_BYTES);
	}
	/* the list is longer than the count of free blocks allows */
	restart();
	second = free_two_blocks();
	pymalloc_image_write(&h, h.full_addr, BLOCKS_IN_POOL - 1);
	walk_without(second, true);
	check_estimate();
}

/* Free the fourth pool of the first arena, and append it to the arena's list. */
static void free_fourth_pool(void)
{
	uint64_t pool = h.partial_addr + 3 * POOL_BYTES;
	uint64_t pair = h.used_addr + 16 * (CLASS_COUNT - 1);
	uint64_t counts = h.array_addr + 2 * OBJECT_BYTES + 16;

	pymalloc_image_write(&h, pair, pair - 16);
	pymalloc_image_write(&h, pair + 8, pair - 16);
	pymalloc_image_write(&h, pool, 0);
	pymalloc_image_write(&h, pool + NEXT_POOL, 0);
	pymalloc_image_write(&h, h.free_addr + NEXT_POOL, pool);
	pymalloc_image_write(&h, counts, pymalloc_image_read(&h, counts) + 1);
}

static void free_pools_after_a_swapped_out_one_are_recognized(void **state)
{
	(void)state;
	free_fourth_pool();
	walk_intact();
	assert_int_equal(find_space(&intact, "free pools")->count, h.free_pools + 1);
	walk_without(h.free_addr, true);
	check_bound(NOT_COUNTED);
	assert_int_equal(find_space(&heap, "free pools")->count, h.free_pools);
	assert_int_equal(heap.arenas[0].live.bytes, intact.arenas[0].live.bytes);
	restart();
	free_fourth_pool();
	walk_without(h.free_addr, false);
	check_estimate();
}

static void an_arena_can_be_swapped_out_completely(void **state)
{
	const struct image_run *last;

	(void)state;
	walk_intact();
	for (;;) {
		last = &h.image.runs[h.image.run_count - 1];
		if (last->end_addr <= h.partial_addr + 64 * POOL_BYTES)
			break;
		made_memory_remove_page(&h.image, &h.mappings,
					last->end_addr - IMAGE_PAGE_BYTES, true);
	}
	walk(&heap);
	check_bound(NOT_COUNTED);
	assert_int_equal(find_space(&heap, "arenas")->count, 2);
	assert_int_equal(find_space(&heap, "pools in use")->count, 4);
}

/* Move the array of arenas, so that only its first elements are on a resident page. */
static void move_array(uint64_t element_count, uint64_t swapped_bytes)
{
	uint64_t addr = h.array_addr + IMAGE_PAGE_BYTES - element_count * OBJECT_BYTES;
	struct mapping *m = &h.mappings.items[1];

	assert_int_equal(m->start_addr, h.array_addr);
	m->end_addr += IMAGE_PAGE_BYTES;
	m->counters.bytes[SMAPS_SWAP] = swapped_bytes;
	for (uint64_t i = 0; i < 5 * OBJECT_BYTES; i += 8)
		pymalloc_image_write(&h, addr + i,
				     pymalloc_image_read(&h, h.array_addr + i));
	pymalloc_image_write(&h, h.arenas_word_addr, addr);
}

static void the_table_of_arenas_may_be_longer_than_its_resident_part(void **state)
{
	(void)state;
	walk_intact();
	move_array(40, IMAGE_PAGE_BYTES);
	walk(&heap);
	check_bound("part of Python's table of arenas may be swapped out: pools of "
		    "Python may not be counted");
	restart();
	move_array(40, 0);
	walk(&heap);
	assert_int_equal(heap.quality, QUALITY_EXACT);
	/* elements 8 to 15 exist in any case */
	restart();
	move_array(8, 0);
	walk(&heap);
	check_estimate();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	static const struct CMUnitTest tests[] = {
		TEST(pools_without_heads_are_not_counted),
		TEST(pools_that_are_neither_there_nor_swapped_out_are_corrupt),
		TEST(a_corrupt_pool_makes_an_estimate_although_memory_is_swapped_out),
		TEST(pools_with_swapped_out_free_blocks_are_not_counted),
		TEST(free_pools_after_a_swapped_out_one_are_recognized),
		TEST(an_arena_can_be_swapped_out_completely),
		TEST(the_table_of_arenas_may_be_longer_than_its_resident_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
