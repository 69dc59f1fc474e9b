/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk of made-up partitions: exact if intact, never wrong if damaged. */
#include "config.h"

#include "walk/walk.h"

#include <string.h>

#include "../../support/partition_image.h"
#include "../../support/unit.h"

static struct partition_image h;
static struct heap heap;

static void walk(void)
{
	heap_release(&heap);
	made_memory_walk(&h.memory, walk_partition, &heap);
}

static int begin(void **state)
{
	(void)state;
	partition_image_init(&h, 0);
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
	struct heap_arena sums;

	assert_int_equal(heap.allocator, ALLOCATOR_PARTITION);
	assert_null(heap.problem);
	assert_int_equal(heap.quality, QUALITY_EXACT);
	assert_int_equal(heap.arena_count, 2);
	assert_int_equal(heap.cache_count, 1);
	heap_sum_arenas(&heap, &sums);
	assert_int_equal(sums.live.count, h.live_count);
	assert_int_equal(sums.live.bytes, h.live_bytes);
	assert_int_equal(sums.cached.count, h.cached_count);
	assert_int_equal(sums.cached.bytes, h.cached_bytes);
	assert_int_equal(heap.arenas[0].system_bytes + heap.arenas[1].system_bytes,
			 4 * PARTITION_SUPER_BYTES);
	assert_int_equal(resident_sum(), h.resident_bytes);
	assert_int_equal(heap.owner_bytes[OWNER_LIVE], h.live_resident_bytes);
	assert_int_equal(heap.owner_bytes[OWNER_POOL_PAGES] +
				 heap.owner_bytes[OWNER_POOL_FRAGMENTS],
			 h.free_resident_bytes);
}

static void all_versions_are_exact(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < PARTITION_IMAGE_VERSIONS; i++) {
		made_memory_release(&h.memory);
		partition_image_init(&h, i);
		walk();
		check_exact();
	}
}

/* If the kernel has reclaimed the page of the last slot, the page reads as zeros. */
static void a_zeroed_last_slot_ends_its_list(void **state)
{
	(void)state;
	made_memory_write(&h.memory, h.last_free_addr, 0);
	made_memory_write(&h.memory, h.last_free_addr + 8, 0);
	walk();
	check_exact();
}

static void slots_are_found_with_their_states(void **state)
{
	struct block block;

	(void)state;
	walk();
	assert_true(blocks_find(&h.memory.blocks, h.first_free_addr + 63, &block));
	assert_int_equal(block.addr, h.first_free_addr);
	assert_int_equal(block.bytes, 64);
	assert_int_equal(block.state, BLOCK_FREE);
	assert_true(blocks_find(&h.memory.blocks, h.cached_addr, &block));
	assert_int_equal(block.state, BLOCK_CACHED);
	assert_true(blocks_find(&h.memory.blocks, h.cached_addr - 64, &block));
	assert_int_equal(block.state, BLOCK_LIVE);
}

struct damage_row {
	const char *what;
	uint64_t addr, value;
};

static void check_damages(const struct damage_row rows[], size_t count,
			  enum quality quality)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t before = made_memory_read(&h.memory, rows[i].addr);

		made_memory_write(&h.memory, rows[i].addr, rows[i].value);
		walk();
		assert_row(heap.quality == quality, rows[i].what);
		assert_row(heap.problem != NULL, rows[i].what);
		assert_row(resident_sum() <= h.resident_bytes, rows[i].what);
		made_memory_write(&h.memory, rows[i].addr, before);
	}
	walk();
	check_exact();
}

static void damaged_figures_make_an_estimate(void **state)
{
	const uint64_t entry = h.metadata_addr + PARTITION_ENTRY_BYTES;
	const struct damage_row rows[] = {
		{ "the sum of allocated bytes", h.figures_addr + 40, 4096 },
		{ "the number of super pages", h.figures_addr + 24,
		  2 * PARTITION_SUPER_BYTES },
		{ "the bytes of direct maps", h.figures_addr + 32,
		  4 * PARTITION_SUPER_BYTES },
		{ "no direct map", h.figures_addr + 160, 0 },
		{ "a direct map outside the copy", h.figures_addr + 160, 0x1000 },
		{ "a direct map with another bucket", h.direct_extent_addr + 16,
		  h.bucket_addr },
		{ "a direct map with a previous one", h.direct_extent_addr + 8,
		  h.direct_extent_addr },
		{ "direct maps in a ring", h.direct_extent_addr, h.direct_extent_addr },
		{ "a direct map of another root", h.direct_metadata_addr,
		  h.inner_root_addr },
		{ "metadata of another root", h.metadata_addr, h.inner_root_addr },
		{ "extents in a ring", h.metadata_addr + 8, h.metadata_addr },
		{ "an extent without super pages", h.metadata_addr + 16, 0x20000 },
		{ "a bucket of another root", entry + 16, h.inner_root_addr + 0xc8 },
		{ "a bucket between two", entry + 16, h.bucket_addr + 8 },
		{ "a bucket before the first", entry + 16, h.bucket_addr - 56 },
		{ "more live slots", entry + 24, 256 | UINT64_C(1) << 54 },
		{ "more unused slots than slots", entry + 24,
		  60 | UINT64_C(300) << 15 | UINT64_C(1) << 54 },
		{ "a second part of a span in first place", entry + 24,
		  UINT64_C(1) << 54 | UINT64_C(1) << 48 },
		{ "a list that is too short", entry, h.first_free_addr + 64 },
		{ "a list that begins within a slot", entry, h.first_free_addr + 8 },
		{ "a list outside the span", entry, h.cache_addr & ~UINT64_C(63) },
		{ "an element without complement", h.first_free_addr + 8, 0 },
		{ "a slot in two lists", h.cache_addr, h.first_free_addr },
		{ "a cached slot outside all spans", h.cache_addr, 0x1000 },
		{ "fewer cached slots than counted", h.cache_addr + 8, 0x408006 },
	};

	(void)state;
	check_damages(rows, ARRAY_SIZE(rows), QUALITY_ESTIMATE);
}

static void without_caches_the_figures_are_bounds(void **state)
{
	const struct damage_row rows[] = {
		{ "no cache", h.cache_addr + 17 * UINT64_C(16), 0 },
		{ "a cache with another slot size", h.cache_addr + 8, 0x508005 },
	};

	(void)state;
	check_damages(rows, ARRAY_SIZE(rows), QUALITY_BOUND);
}

static void a_cached_slot_has_the_size_of_its_list(void **state)
{
	/* the second span, all of whose slots are allocated */
	const uint64_t other = (h.cached_addr | (PARTITION_PAGE_BYTES - 1)) + 1;

	(void)state;
	made_memory_write(&h.memory, h.cache_addr, other);
	made_memory_write(&h.memory, h.cache_addr + 8, 0x408001);
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
}

static void missing_caches_do_not_make_an_estimate_a_bound(void **state)
{
	(void)state;
	made_memory_write(&h.memory, h.cache_addr + 17 * UINT64_C(16), 0);
	made_memory_write(&h.memory, h.first_free_addr + 8, 0);
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
}

static void an_unknown_root_makes_the_heap_unknown(void **state)
{
	const struct damage_row rows[] = {
		{ "no pool", h.root_addr + 0x18, 0 },
		{ "no offset of the metadata", h.root_addr + 0x90, 0x1000 },
	};

	(void)state;
	check_damages(rows, ARRAY_SIZE(rows), QUALITY_UNKNOWN);
}

static void a_program_without_roots_is_not_chromium(void **state)
{
	(void)state;
	made_memory_write(&h.memory, h.inverted_addr, 0);
	made_memory_write(&h.memory, h.inner_root_addr + 0x39f8, 0);
	walk();
	assert_int_equal(heap.allocator, ALLOCATOR_UNKNOWN);
	assert_int_equal(heap.quality, QUALITY_UNKNOWN);
}

static void a_running_process_is_an_estimate(void **state)
{
	(void)state;
	h.memory.is_running = true;
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	h.memory.is_running = false;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_versions_are_exact),
		TEST(a_zeroed_last_slot_ends_its_list),
		TEST(slots_are_found_with_their_states),
		TEST(damaged_figures_make_an_estimate),
		TEST(without_caches_the_figures_are_bounds),
		TEST(a_cached_slot_has_the_size_of_its_list),
		TEST(missing_caches_do_not_make_an_estimate_a_bound),
		TEST(an_unknown_root_makes_the_heap_unknown),
		TEST(a_program_without_roots_is_not_chromium),
		TEST(a_running_process_is_an_estimate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
