/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk of a made-up heap of musl's old malloc: exact if intact, never wrong. */
#include "config.h"

#include "walk/walk.h"

#include <string.h>

#include "../../support/oldmalloc_image.h"
#include "../../support/unit.h"

static struct oldmalloc_image h;
static struct heap heap;

static void walk(void)
{
	heap_release(&heap);
	oldmalloc_image_walk(&h, &heap);
}

static int begin(void **state)
{
	(void)state;
	oldmalloc_image_init(&h);
	heap_init(&heap);
	return 0;
}

static int end(void **state)
{
	(void)state;
	heap_release(&heap);
	oldmalloc_image_release(&h);
	return 0;
}

static uint64_t resident_sum(void)
{
	uint64_t sum = 0;

	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		sum += heap.owner_bytes[o];
	return sum;
}

static void check_sum(const struct chunk_sum *got, const struct chunk_sum *wanted)
{
	assert_int_equal(got->count, wanted->count);
	assert_int_equal(got->bytes, wanted->bytes);
}

static void an_intact_heap_is_exact(void **state)
{
	(void)state;
	walk();
	assert_int_equal(heap.allocator, ALLOCATOR_MUSL);
	assert_null(heap.problem);
	assert_int_equal(heap.quality, QUALITY_EXACT);
	assert_true(heap_is_oldmalloc(&heap));
	check_sum(&heap.arenas[0].live, &h.live);
	check_sum(&heap.arenas[0].bin, &h.free);
	check_sum(&heap.mapped, &h.mapped);
	assert_int_equal(heap.arenas[0].heap_count, 3);
	assert_int_equal(resident_sum(), h.resident_bytes);
	assert_int_equal(heap.trimmable_bytes, 0);
}

static void check_block(uint64_t addr, uint64_t chunk, uint64_t bytes,
			enum block_state state)
{
	struct block block;

	assert_true(blocks_find(&h.blocks, addr, &block));
	assert_int_equal(block.addr, chunk + 16);
	assert_int_equal(block.bytes, bytes);
	assert_int_equal(block.state, state);
}

static void each_block_has_its_state_and_usable_size(void **state)
{
	struct block_place place = { 0 };
	struct block block;
	size_t count = 0;

	(void)state;
	walk();
	check_block(h.live_addr + 16, h.live_addr, 48, BLOCK_LIVE);
	check_block(h.live_addr + 63, h.live_addr, 48, BLOCK_LIVE);
	assert_false(blocks_find(&h.blocks, h.live_addr + 64, &block));
	check_block(h.free_addr + 20, h.free_addr, 80, BLOCK_FREE);
	check_block(h.donated_addr + 16, h.donated_addr, 112, BLOCK_LIVE);
	check_block(h.mapped_addr + 5000, h.mapped_addr, 60 * 4096 - 32, BLOCK_LIVE);
	check_block(h.aligned_addr + 16, h.aligned_addr, 64 * 4096 - 256, BLOCK_LIVE);
	while (blocks_next(&h.blocks, &place, &block))
		count++;
	assert_int_equal(count, h.live.count + h.free.count + h.mapped.count);
	assert_true(blocks_in_own_range(&h.blocks, h.bins_addr));
}

/* Without these structures, no heap is found. */
static void a_heap_without_its_bins_is_unknown(void **state)
{
	(void)state;
	oldmalloc_image_write(&h, h.map_addr, 0);
	walk();
	assert_int_equal(heap.allocator, ALLOCATOR_UNKNOWN);
	assert_int_equal(heap.quality, QUALITY_UNKNOWN);
	oldmalloc_image_write(&h, h.map_addr, 1);
	walk();
	assert_int_equal(heap.quality, QUALITY_UNKNOWN);
}

/* Each change of one word must be noticed: the result is then only an estimate. */
static void damage_is_noticed(void **state)
{
	const uint64_t ring = h.bins_addr + 24 * h.free_bin;
	const struct {
		const char *what;
		uint64_t addr, value;
	} rows[] = {
		{ "a bin that is not in the map", h.map_addr,
		  oldmalloc_image_read(&h, h.map_addr) & ~UINT64_C(4) },
		{ "a bin in the map that is empty", h.map_addr,
		  oldmalloc_image_read(&h, h.map_addr) | 8 },
		{ "the first chunk of a bin", ring + 8, h.live_addr },
		{ "the last chunk of a bin", ring + 16, h.free_addr },
		{ "a ring with a cycle", h.free_addr + 16, h.free_addr },
		{ "a ring that leaves the heap", h.free_addr + 16, 4096 },
		{ "a ring with a live chunk", h.free_addr + 16, h.live_addr },
		{ "a ring that ends early", h.free_addr + 16, ring + 8 - 16 },
		{ "a free chunk that is not in a bin", h.live_addr + 8, 64 },
		{ "a chunk in a bin that is in use", h.free_addr + 8, 97 },
		{ "a chunk that leaves the region", h.live_addr + 8, 1 << 20 },
		{ "a chunk of an odd size", h.live_addr + 8, 80 | 1 },
		{ "an outdated size before a chunk", h.free_addr, 32 | 1 },
		{ "a region without an end", h.last_addr + 8, 0 },
		{ "a region without a start", h.brk_addr + 16, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t before = oldmalloc_image_read(&h, rows[i].addr);

		oldmalloc_image_write(&h, rows[i].addr, rows[i].value);
		walk();
		assert_row(heap.quality == QUALITY_ESTIMATE, rows[i].what);
		assert_row(heap.problem != NULL, rows[i].what);
		assert_row(resident_sum() <= h.image.length_bytes, rows[i].what);
		oldmalloc_image_write(&h, rows[i].addr, before);
	}
	walk();
	assert_int_equal(heap.quality, QUALITY_EXACT);
}

/* Memory that looks like a block with its own mapping, but is not. */
static void foreign_memory_is_not_a_block(void **state)
{
	const struct {
		const char *what;
		uint64_t addr, value;
	} rows[] = {
		{ "the size before it", h.mapped_addr, 32 },
		{ "a size that is not whole pages", h.mapped_addr + 8, 60 * 4096 - 48 },
		{ "a size in use", h.mapped_addr + 8, (60 * 4096 - 16) | 1 },
		{ "a size beyond the mapping", h.mapped_addr + 8, 6000 * 4096 - 16 },
		{ "data before it", h.mapped_addr - 16, 5 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t before = oldmalloc_image_read(&h, rows[i].addr);

		oldmalloc_image_write(&h, rows[i].addr, rows[i].value);
		walk();
		assert_row(heap.mapped.count == 1, rows[i].what);
		oldmalloc_image_write(&h, rows[i].addr, before);
	}
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
	assert_int_equal(heap.other_count, 0);
	blocks_release(&blocks);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_intact_heap_is_exact, begin, end),
		cmocka_unit_test_setup_teardown(each_block_has_its_state_and_usable_size,
						begin, end),
		cmocka_unit_test_setup_teardown(a_heap_without_its_bins_is_unknown, begin,
						end),
		cmocka_unit_test_setup_teardown(damage_is_noticed, begin, end),
		cmocka_unit_test_setup_teardown(foreign_memory_is_not_a_block, begin,
						end),
		cmocka_unit_test_setup_teardown(
			the_heap_of_a_running_process_is_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(walk_heap_keeps_the_heap_of_musl, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
