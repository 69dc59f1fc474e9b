/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk of a made-up heap of tcmalloc: exact if intact, never wrong if damaged. */
#include "config.h"

#include "walk/walk.h"

#include <string.h>

#include "../../support/tcmalloc_image.h"
#include "../../support/unit.h"

static struct tcmalloc_image h;
static struct heap heap;

static void walk(void)
{
	heap_release(&heap);
	tcmalloc_image_walk(&h, &heap);
}

static int begin(void **state)
{
	(void)state;
	tcmalloc_image_init(&h, &tcmalloc_layouts[0]);
	heap_init(&heap);
	return 0;
}

static int end(void **state)
{
	(void)state;
	heap_release(&heap);
	tcmalloc_image_release(&h);
	return 0;
}

static uint64_t resident_sum(void)
{
	uint64_t sum = 0;

	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		sum += heap.owner_bytes[o];
	return sum;
}

static void check_sum(const struct chunk_sum *got, const struct chunk_sum *wanted,
		      const char *what)
{
	assert_row(got->count == wanted->count, what);
	assert_row(got->bytes == wanted->bytes, what);
}

static void an_intact_heap_of_each_version_is_exact(void **state)
{
	(void)state;
	for (size_t i = 0; i < TCMALLOC_LAYOUT_COUNT; i++) {
		const char *name = tcmalloc_layouts[i].name;
		const struct heap_arena *arena;

		tcmalloc_image_release(&h);
		tcmalloc_image_init(&h, &tcmalloc_layouts[i]);
		walk();
		assert_row(heap.allocator == ALLOCATOR_TCMALLOC, name);
		assert_row(heap.problem == NULL, name);
		assert_row(heap.quality == QUALITY_EXACT, name);
		arena = &heap.arenas[0];
		check_sum(&arena->live, &h.live, name);
		check_sum(&arena->cached, &h.cached, name);
		check_sum(&arena->bin, &h.free, name);
		assert_row(heap.cache_count == 2, name);
		assert_row(arena->stretches[HEAP_ACTIVE].bytes == h.in_use_bytes, name);
		assert_row(arena->stretches[HEAP_RETAINED].bytes == h.returned_bytes,
			   name);
		assert_row(arena->stretches[HEAP_RETAINED].resident_bytes == 0, name);
		assert_row(heap.trimmable_bytes == h.free_span_bytes, name);
		assert_row(resident_sum() == h.resident_bytes, name);
	}
}

static void each_block_has_its_state(void **state)
{
	struct block block;

	(void)state;
	walk();
	assert_true(blocks_find(&h.blocks, h.small_addr + 33, &block));
	assert_int_equal(block.addr, h.small_addr + 32);
	assert_int_equal(block.bytes, 32);
	assert_int_equal(block.state, BLOCK_LIVE);
	assert_true(blocks_find(&h.blocks, h.listed_addr + 64, &block));
	assert_int_equal(block.state, BLOCK_FREE);
	assert_true(blocks_find(&h.blocks, h.batch_addr, &block));
	assert_int_equal(block.state, BLOCK_FREE);
	assert_true(blocks_find(&h.blocks, h.cached_addr + 4 * 32, &block));
	assert_int_equal(block.state, BLOCK_CACHED);
	assert_true(blocks_find(&h.blocks, h.cached_addr + 5 * 32, &block));
	assert_int_equal(block.state, BLOCK_LIVE);
	assert_true(blocks_find(&h.blocks, h.large_addr + 3 * 8192 - 1, &block));
	assert_int_equal(block.addr, h.large_addr);
	assert_int_equal(block.bytes, 3 * 8192);
	/* neither free spans nor the unused end of a span are blocks */
	assert_false(blocks_find(&h.blocks, h.large_addr + 3 * 8192, &block));
	assert_false(blocks_find(&h.blocks, h.large_addr + 7 * 8192 - 1, &block));
	assert_true(blocks_find(&h.blocks, h.small_span_addr, &block));
	assert_int_equal(block.state, BLOCK_OWN);
	assert_true(blocks_in_own_range(&h.blocks, h.central_addr));
}

/* Without these structures, no heap is found, or its layout is unknown. */
static void a_heap_without_its_roots_is_unknown(void **state)
{
	const struct {
		const char *what;
		uint64_t addr, value;
		enum allocator allocator;
	} rows[] = {
		{ "a head in the row", h.row_addr + 20 * 48 + 16, 0, ALLOCATOR_UNKNOWN },
		{ "a size class", h.sizes_addr + 40, 0, ALLOCATOR_UNKNOWN },
		{ "the number of a central list", h.central_addr + 1216 * 9, 10,
		  ALLOCATOR_TCMALLOC },
		{ "the root of the page map", h.root_word_addr, 0, ALLOCATOR_TCMALLOC },
		{ "a leaf that is no address", h.root_word_addr, 3, ALLOCATOR_TCMALLOC },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t before = tcmalloc_image_read(&h, rows[i].addr);

		tcmalloc_image_write(&h, rows[i].addr, rows[i].value);
		walk();
		assert_row(heap.quality == QUALITY_UNKNOWN, rows[i].what);
		assert_row(heap.allocator == rows[i].allocator, rows[i].what);
		assert_row(heap.problem != NULL, rows[i].what);
		tcmalloc_image_write(&h, rows[i].addr, before);
	}
	walk();
	assert_int_equal(heap.quality, QUALITY_EXACT);
}

/* Each change of one word must be noticed: the result is then only an estimate. */
static void damage_is_noticed(void **state)
{
	uint64_t list = h.central_addr + UINT64_C(1216) * h.small_class;
	uint64_t cached_list = h.first_cache_addr + UINT64_C(32) * h.small_class;
	const struct {
		const char *what;
		uint64_t addr, value;
	} rows[] = {
		{ "a head in the row", h.row_addr + 20 * 48 + 16, h.row_addr },
		{ "a head of a central list", list + 8 + 16, h.row_addr },
		{ "the start of a span", h.large_span_addr, 1 },
		{ "the length of a span", h.large_span_addr + 8, 2 },
		{ "a length beyond all addresses", h.large_span_addr + 8, UINT64_MAX },
		{ "an unknown class", h.small_span_addr + 40, 253 | 200 << 16 },
		{ "a span of another class", h.small_span_addr + 40, 253 | 4 << 16 },
		{ "an unknown location", h.small_span_addr + 40,
		  253 | 3 << 16 | 3 << 24 },
		{ "the number of blocks in use", h.small_span_addr + 40, 250 | 3 << 16 },
		{ "a list with a cycle", h.listed_addr + 32, h.listed_addr },
		{ "a list that leaves the class", h.listed_addr, h.large_addr },
		{ "a list that leaves the heap", h.listed_addr, 8 },
		{ "an address inside a block", h.listed_addr, h.listed_addr + 40 },
		{ "a block that two lists contain", h.cached_addr, h.batch_addr },
		{ "a batch that ends early", h.batch_addr + 64, 0 },
		{ "the end of a batch", list + 128, h.batch_addr },
		{ "too many batches", list + 1144, 65 },
		{ "a negative number of batches", list + 1144, 0xffffffff },
		{ "the central list's counter", list + 112, 4 },
		{ "the length of a cached list", cached_list + 8, 4 },
		{ "a length of 2^32 - 1", cached_list + 8, 0xffffffff },
		{ "the class of a cache's list", h.first_cache_addr + 32 * 5 + 24, 1 },
		{ "the number of caches", h.count_addr, 3 },
		{ "the bytes of the page heap", h.stats_addr, 8192 },
		{ "the free bytes of the page heap", h.stats_addr + 8, 8192 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t before = tcmalloc_image_read(&h, rows[i].addr);

		tcmalloc_image_write(&h, rows[i].addr, rows[i].value);
		walk();
		assert_row(heap.quality == QUALITY_ESTIMATE, rows[i].what);
		assert_row(heap.problem != NULL, rows[i].what);
		assert_row(resident_sum() <= h.image.length_bytes, rows[i].what);
		tcmalloc_image_write(&h, rows[i].addr, before);
	}
	walk();
	assert_int_equal(heap.quality, QUALITY_EXACT);
}

static void blocks_of_the_debug_library_make_an_estimate(void **state)
{
	(void)state;
	for (uint64_t addr = h.small_addr; addr < h.small_addr + 8 * 32; addr += 32)
		tcmalloc_image_write(&h, addr + 16, 0xdeadbeef);
	walk();
	/* one of two spans with small blocks is not enough */
	assert_int_equal(heap.quality, QUALITY_EXACT);
	for (uint64_t i = 0; i < 8; i++)
		tcmalloc_image_write(&h, h.large_addr + 6 * 8192 + 48 * i + 16,
				     0xdeadbeef);
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_non_null(strstr(heap.problem, "debug library"));
}

static void the_heap_of_a_running_process_is_an_estimate(void **state)
{
	(void)state;
	h.is_running = true;
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes);
}

static void walk_heap_keeps_the_heap_of_tcmalloc(void **state)
{
	const struct walk_input input = { .image = &h.image, .mappings = &h.mappings };
	struct blocks blocks;

	(void)state;
	heap_release(&heap);
	walk_heap(&input, &heap, &blocks);
	assert_int_equal(heap.allocator, ALLOCATOR_TCMALLOC);
	assert_int_equal(heap.quality, QUALITY_EXACT);
	blocks_release(&blocks);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_intact_heap_of_each_version_is_exact,
						begin, end),
		cmocka_unit_test_setup_teardown(each_block_has_its_state, begin, end),
		cmocka_unit_test_setup_teardown(a_heap_without_its_roots_is_unknown,
						begin, end),
		cmocka_unit_test_setup_teardown(damage_is_noticed, begin, end),
		cmocka_unit_test_setup_teardown(
			blocks_of_the_debug_library_make_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(
			the_heap_of_a_running_process_is_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(walk_heap_keeps_the_heap_of_tcmalloc,
						begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
