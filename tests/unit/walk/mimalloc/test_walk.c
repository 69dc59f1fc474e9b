/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk of a made-up heap of mimalloc: exact if intact, never wrong if damaged. */
#include "config.h"

#include "walk/walk.h"

#include <stdlib.h>
#include <string.h>

#include "../../support/mimalloc_image.h"
#include "../../support/unit.h"

static struct mimalloc_image h;
static struct heap heap;

static void walk(void)
{
	heap_release(&heap);
	mimalloc_image_walk(&h, &heap);
}

static const struct mimalloc_made *made_named(const char *name)
{
	for (size_t i = 0; i < MIMALLOC_MADE_COUNT; i++)
		if (strcmp(mimalloc_made[i].name, name) == 0)
			return &mimalloc_made[i];
	return NULL;
}

static void make(const char *name)
{
	mimalloc_image_release(&h);
	mimalloc_image_init(&h, made_named(name));
}

static int begin(void **state)
{
	(void)state;
	mimalloc_image_init(&h, &mimalloc_made[0]);
	heap_init(&heap);
	return 0;
}

static int end(void **state)
{
	(void)state;
	heap_release(&heap);
	mimalloc_image_release(&h);
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
	for (size_t i = 0; i < MIMALLOC_MADE_COUNT; i++) {
		const char *name = mimalloc_made[i].name;
		const struct heap_arena *arena;

		make(name);
		walk();
		assert_row(heap.allocator == ALLOCATOR_MIMALLOC, name);
		assert_row(heap.problem == NULL, name);
		assert_row(heap.quality == QUALITY_EXACT, name);
		arena = &heap.arenas[0];
		check_sum(&arena->live, &h.live, name);
		check_sum(&arena->bin, &h.free, name);
		assert_row(arena->stretches[HEAP_ACTIVE].count == 2, name);
		assert_row(arena->stretches[HEAP_DIRTY].resident_bytes ==
				   h.free_slice_bytes,
			   name);
		assert_row(resident_sum() == h.resident_bytes, name);
		assert_row(heap.owner_bytes[OWNER_LIVE] == h.live.bytes, name);
		assert_row(heap.trimmable_bytes == BYTES_UNKNOWN, name);
		assert_row(strstr(name, "secure") == NULL ||
				   strstr(heap.version, "secure") != NULL,
			   name);
	}
}

static void check_state(uint64_t addr, uint64_t start, uint64_t bytes,
			enum block_state state, const char *what)
{
	struct block block;

	assert_row(blocks_find(&h.blocks, addr, &block), what);
	assert_row(block.addr == start, what);
	assert_row(block.bytes == bytes, what);
	assert_row(block.state == state, what);
}

static void each_block_has_its_state(void **state)
{
	struct block block;

	(void)state;
	for (size_t i = 0; i < MIMALLOC_MADE_COUNT; i++) {
		const char *name = mimalloc_made[i].name;

		make(name);
		walk();
		check_state(h.small_addr + 65, h.small_addr + 64, 64, BLOCK_LIVE, name);
		check_state(h.free_addr, h.free_addr, 64, BLOCK_FREE, name);
		check_state(h.local_addr + 64, h.local_addr + 64, 64, BLOCK_FREE, name);
		check_state(h.thread_addr + 64, h.thread_addr + 64, 64, BLOCK_FREE, name);
		check_state(h.thread_addr + 128, h.thread_addr + 128, 64, BLOCK_LIVE,
			    name);
		if (h.delayed_addr)
			check_state(h.delayed_addr + 192, h.delayed_addr + 192, 64,
				    BLOCK_FREE, name);
		check_state(h.large_addr + 150015, h.large_addr, 150016, BLOCK_LIVE,
			    name);
		/* blocks that were never handed out are no blocks */
		assert_row(!blocks_find(&h.blocks, h.small_addr + 100 * 64, &block),
			   name);
		assert_row(blocks_find(&h.blocks, h.segment_addr, &block) &&
				   block.state == BLOCK_OWN,
			   name);
	}
}

struct damage_row {
	const char *what;
	uint64_t addr, value;
	unsigned int bytes;
};

/* Make each change alone, and check that the result is not exact. */
static void check_damage(const struct damage_row *rows, size_t count,
			 enum quality quality)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t before = mimalloc_image_read(&h, rows[i].addr, rows[i].bytes);

		mimalloc_image_write(&h, rows[i].addr, rows[i].value, rows[i].bytes);
		walk();
		assert_row(heap.quality == quality, rows[i].what);
		assert_row(heap.problem != NULL, rows[i].what);
		assert_row(resident_sum() <= h.image.length_bytes ||
				   quality == QUALITY_UNKNOWN,
			   rows[i].what);
		mimalloc_image_write(&h, rows[i].addr, before, rows[i].bytes);
	}
	walk();
	assert_int_equal(heap.quality, QUALITY_EXACT);
}

static void a_heap_without_its_roots_is_unknown(void **state)
{
	(void)state;
	for (int version = 2; version <= 3; version++) {
		struct damage_row rows[] = { { "the anchor", 0, 0, 8 },
					     { "another anchor", 0, 4096, 8 } };

		make(version == 2 ? "2.0.9" : "3.4.3");
		rows[0].addr = rows[1].addr = h.anchor_addr;
		check_damage(rows, ARRAY_SIZE(rows), QUALITY_UNKNOWN);
	}
}

/* Damage that is the same in both versions. */
static void lists_with_damage_are_noticed(void **state)
{
	static const char *const names[] = { "2.0.9", "2.4.1", "3.2.8", "3.4.3" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		make(names[i]);
		const struct mimalloc_made *m = h.made;
		const struct damage_row rows[] = {
			{ "a list with a cycle", h.free_addr + 64, h.free_addr, 8 },
			{ "a list that leaves the page", h.free_addr + 64, h.large_addr,
			  8 },
			{ "a list that leaves the heap", h.free_addr + 64, 8, 8 },
			{ "an address inside a block", h.free_addr + 64,
			  h.free_addr + 130, 8 },
			{ "a block beyond the capacity", h.free_addr + 64,
			  h.small_addr + 64 * 200, 8 },
			{ "a block on two lists", h.free_addr + 64, h.local_addr, 8 },
			{ "a list that ends early", h.free_addr + 64, 0, 8 },
			{ "the number of blocks in use", h.small_page_addr + m->page.used,
			  91, 2 },
			{ "more blocks in use than there are",
			  h.small_page_addr + m->page.used, 101, 2 },
		};
		check_damage(rows, ARRAY_SIZE(rows), QUALITY_ESTIMATE);
	}
}

static void segments_with_damage_are_noticed(void **state)
{
	(void)state;
	make("2.0.9");
	const struct damage_row rows[] = {
		{ "the number of pages", h.segment_addr + 208, 3, 8 },
		{ "the length of a page", h.large_page_addr, 2, 4 },
		{ "a length of 2^32 - 1", h.large_page_addr, UINT32_MAX, 4 },
		{ "no length", h.large_page_addr, 0, 4 },
		{ "the size of the large block", h.large_page_addr + 28, 1 << 30, 4 },
		{ "a heap of another thread", h.heap_addr + 2848, 1, 8 },
		{ "a heap that is not resident", h.small_page_addr + 48, 4096, 8 },
		{ "a delayed block of no page", h.delayed_addr, 4096, 8 },
		{ "a delayed block that is free", h.delayed_addr, h.free_addr, 8 },
	};
	check_damage(rows, ARRAY_SIZE(rows), QUALITY_ESTIMATE);
	/* without its cookie, the unused segment is not one */
	mimalloc_image_write(&h, h.unused_addr + 216, 0, 8);
	walk();
	assert_int_equal(heap.quality, QUALITY_EXACT);
	assert_true(resident_sum() < h.resident_bytes);
}

static void maps_with_damage_are_noticed(void **state)
{
	(void)state;
	make("3.4.3");
	const struct damage_row estimates[] = {
		{ "a page without a struct", h.map_word_addr, 4096, 8 },
		{ "a page that is free", h.bits_addr, UINT64_MAX - 4, 8 },
		{ "a page of no arena", h.small_page_addr + h.made->page.memory, 4096,
		  8 },
	};
	const struct damage_row unknowns[] = {
		{ "the number of slices", h.segment_addr + 40, UINT64_C(1) << 40, 8 },
		{ "the number of own slices", h.segment_addr + 48, 3, 8 },
		{ "the map of free slices", h.segment_addr + 104, 8, 8 },
		{ "the size of the large block", h.large_page_addr + 40, 1 << 30, 8 },
	};
	check_damage(estimates, ARRAY_SIZE(estimates), QUALITY_ESTIMATE);
	check_damage(unknowns, ARRAY_SIZE(unknowns), QUALITY_UNKNOWN);
}

static void the_heap_of_a_running_process_is_an_estimate(void **state)
{
	(void)state;
	h.is_running = true;
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes);
}

static enum allocator find_claimed(bool is_claimed)
{
	size_t pages = h.image.length_bytes / IMAGE_PAGE_BYTES;
	uint8_t *claimed = malloc(pages);
	struct walk_input input = { .image = &h.image, .mappings = &h.mappings };
	enum allocator found;
	struct blocks blocks;

	assert_non_null(claimed);
	memset(claimed, is_claimed, pages);
	input.claimed = claimed;
	heap_release(&heap);
	walk_mimalloc(&input, &heap, &blocks);
	found = heap.allocator;
	blocks_release(&blocks);
	free(claimed);
	return found;
}

static void no_heap_is_found_in_the_memory_of_a_runtime(void **state)
{
	(void)state;
	for (size_t i = 0; i < MIMALLOC_MADE_COUNT; i++) {
		make(mimalloc_made[i].name);
		assert_int_equal(find_claimed(false), ALLOCATOR_MIMALLOC);
		assert_int_equal(find_claimed(true), ALLOCATOR_UNKNOWN);
	}
}

/* The first word is the address 1 MiB higher, as in a map; the other words are data. */
static void memory_that_looks_like_a_map_is_none(void **state)
{
	(void)state;
	make("3.4.3");
	uint64_t map_addr = mimalloc_image_read(&h, h.anchor_addr, 8);

	for (uint64_t at = map_addr + 8; at < map_addr + 4096; at += 8)
		mimalloc_image_write(&h, at, h.small_addr + at % 4096, 8);
	walk();
	assert_int_equal(heap.allocator, ALLOCATOR_UNKNOWN);
}

static void walk_heap_keeps_the_heap_of_mimalloc(void **state)
{
	const struct walk_input input = { .image = &h.image, .mappings = &h.mappings };
	struct blocks blocks;

	(void)state;
	heap_release(&heap);
	walk_heap(&input, &heap, &blocks);
	assert_int_equal(heap.allocator, ALLOCATOR_MIMALLOC);
	assert_int_equal(heap.quality, QUALITY_EXACT);
	assert_non_null(heap.evidence);
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
		cmocka_unit_test_setup_teardown(lists_with_damage_are_noticed, begin,
						end),
		cmocka_unit_test_setup_teardown(segments_with_damage_are_noticed, begin,
						end),
		cmocka_unit_test_setup_teardown(maps_with_damage_are_noticed, begin, end),
		cmocka_unit_test_setup_teardown(
			the_heap_of_a_running_process_is_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(
			no_heap_is_found_in_the_memory_of_a_runtime, begin, end),
		cmocka_unit_test_setup_teardown(memory_that_looks_like_a_map_is_none,
						begin, end),
		cmocka_unit_test_setup_teardown(walk_heap_keeps_the_heap_of_mimalloc,
						begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
