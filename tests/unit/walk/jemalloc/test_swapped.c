/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Swapped-out pages of a made-up heap of jemalloc: which figures are bounds. */
#include "config.h"

#include "walk/walk.h"

#include <string.h>

#include "../../support/jemalloc_image.h"
#include "../../support/made_memory.h"
#include "../../support/unit.h"

#define PAGE UINT64_C(4096)

static struct jemalloc_image h;
static struct heap heap;

static void walk(void)
{
	heap_release(&heap);
	jemalloc_image_walk(&h, &heap);
}

static int begin(void **state)
{
	(void)state;
	jemalloc_image_init(&h, &jemalloc_kinds[2]);
	heap_init(&heap);
	return 0;
}

static int end(void **state)
{
	(void)state;
	heap_release(&heap);
	jemalloc_image_release(&h);
	return 0;
}

static uint64_t page_of(uint64_t addr)
{
	return addr & ~(PAGE - 1);
}

/* Remove the page at addr from the copy. It is swapped out, or was never written. */
static void remove_page(uint64_t addr, bool is_swapped)
{
	made_memory_remove_page(&h.image, &h.mappings, addr, is_swapped);
}

static void assert_bound(const char *problem)
{
	assert_int_equal(heap.quality, QUALITY_BOUND);
	assert_non_null(strstr(heap.problem, "swapped out"));
	assert_non_null(strstr(heap.problem, problem));
}

#define SMALL_BINS 36
#define LARGE_BINS 5
#define BIN_BYTES 24
#define THREADS_APART (8 * PAGE)
#define FREE_ADDR UINT64_C(0x7ff000000000)

static struct heap_arena sum;

static void walk_and_sum(void)
{
	walk();
	heap_sum_arenas(&heap, &sum);
}

/* Make a bin of the second thread, with its pointers in a block at the given distance. */
static void copy_bin(uint64_t addr, uint64_t distance)
{
	uint64_t count = jemalloc_image_read(&h, addr) >> 32;
	uint64_t end = jemalloc_image_read(&h, addr + 16) + distance;

	jemalloc_image_write(&h, addr + THREADS_APART, count << 32);
	jemalloc_image_write(&h, addr + THREADS_APART + 16, end);
	for (uint64_t i = 1; i <= count; i++)
		jemalloc_image_write(&h, end - 8 * i, h.slab_addr + (3 * i - 2) * 48);
}

/* Give the second thread a cache with two blocks, too. Set *ret to the figures then. */
static void add_cache(struct heap_arena *ret)
{
	uint64_t distance = h.large_addr - h.stack_addr;
	uint64_t large = h.bins_addr + SMALL_BINS * BIN_BYTES + h.kind->large_bins_gap;

	for (uint64_t i = 0; i < SMALL_BINS; i++)
		copy_bin(h.bins_addr + i * BIN_BYTES, distance);
	for (uint64_t i = 0; i < LARGE_BINS; i++)
		copy_bin(large + i * BIN_BYTES, distance);
	walk_and_sum();
	assert_int_equal(heap.quality, QUALITY_EXACT);
	assert_int_equal(heap.cache_count, 2);
	assert_int_equal(sum.cached.bytes, 4 * 48);
	*ret = sum;
}

/* Pages with the bins of a thread, and with the pointers to its cached blocks. */
static void swapped_out_caches_make_live_memory_an_upper_bound(void **state)
{
	const uint64_t addrs[] = { h.bins_addr + THREADS_APART, h.large_addr };

	for (size_t i = 0; i < ARRAY_SIZE(addrs); i++) {
		struct heap_arena intact;

		add_cache(&intact);
		remove_page(addrs[i], true);
		walk_and_sum();
		assert_bound("count as live");
		assert_int_equal(sum.cached.bytes, intact.cached.bytes - 2 * 48);
		assert_int_equal(sum.bin.bytes, intact.bin.bytes);
		/* the block with the pointers counts as live if no bin leads to it */
		assert_int_equal(sum.live.bytes,
				 intact.live.bytes + 2 * 48 +
					 (intact.own.bytes - sum.own.bytes));
		end(state);
		begin(state);
	}
}

static void a_thread_without_its_cache_is_not_the_only_one(void **state)
{
	(void)state;
	/* no other thread has a cache by which to find its place */
	remove_page(h.bins_addr, true);
	walk_and_sum();
	assert_bound("count as live");
	assert_int_equal(sum.cached.bytes, 0);
	assert_int_equal(sum.live.bytes, h.live.bytes + h.cached.bytes + h.own.bytes);
}

static void caches_that_are_not_swapped_out_make_an_estimate(void **state)
{
	struct heap_arena intact;

	(void)state;
	add_cache(&intact);
	remove_page(h.large_addr, false);
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_null(strstr(heap.problem, "swapped out"));
}

/* Another page of the same mapping is swapped out. */
static void wrong_contents_of_a_cache_make_an_estimate(void **state)
{
	struct heap_arena intact;

	(void)state;
	add_cache(&intact);
	remove_page(page_of(h.bins_addr) + 4 * PAGE, true);
	made_memory_count_swapped(&h.mappings, h.large_addr);
	walk();
	assert_int_equal(heap.quality, QUALITY_EXACT);
	jemalloc_image_write(&h, h.bins_addr + THREADS_APART + 16, 3);
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_null(strstr(heap.problem, "swapped out"));
}

static void add_mapping(uint64_t addr, uint64_t bytes)
{
	struct mapping m = { .start_addr = addr,
			     .end_addr = addr + bytes,
			     .flags = MAPPING_READ | MAPPING_WRITE,
			     .name = "" };

	mapping_list_add(&h.mappings, &m);
}

/* A root page that describes a mapping of the process is not in the image. */
static void a_swapped_out_part_of_the_root_makes_lower_bounds(void **state)
{
	(void)state;
	made_memory_count_swapped(&h.mappings, h.root_element_addr);
	walk();
	assert_int_equal(heap.quality, QUALITY_EXACT);
	add_mapping(FREE_ADDR + PAGE, PAGE);
	walk_and_sum();
	assert_bound("not counted");
	assert_int_equal(sum.live.bytes, h.live.bytes);
}

static void a_base_block_may_be_swapped_out(void **state)
{
	(void)state;
	add_mapping(FREE_ADDR, PAGE);
	walk();
	assert_int_equal(heap.quality, QUALITY_EXACT);
	made_memory_count_swapped(&h.mappings, FREE_ADDR);
	walk_and_sum();
	assert_bound("own data");
	assert_int_equal(sum.live.bytes, h.live.bytes);
	/* the stack of a thread contains no base block */
	h.thread_addrs[1] = FREE_ADDR + 64;
	walk();
	assert_int_equal(heap.quality, QUALITY_EXACT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			swapped_out_caches_make_live_memory_an_upper_bound, begin, end),
		cmocka_unit_test_setup_teardown(
			a_thread_without_its_cache_is_not_the_only_one, begin, end),
		cmocka_unit_test_setup_teardown(
			caches_that_are_not_swapped_out_make_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(
			wrong_contents_of_a_cache_make_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(
			a_swapped_out_part_of_the_root_makes_lower_bounds, begin, end),
		cmocka_unit_test_setup_teardown(a_base_block_may_be_swapped_out, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
