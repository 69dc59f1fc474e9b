/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Swapped-out pages of a made-up heap of mallocng: which figures are bounds. */
#include "config.h"

#include "walk/walk.h"

#include <string.h>

#include "../../support/mallocng_image.h"
#include "../../support/made_memory.h"
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

/* The page contains a group and the group nested in one of its slots. */
static void groups_that_are_swapped_out_make_lower_bounds(void **state)
{
	const struct heap_arena *arena;

	(void)state;
	remove_page(h.outer_addr, true);
	walk();
	assert_bound("not counted");
	arena = &heap.arenas[0];
	/* the blocks of the other groups: 4 of 32 slots are live, and 1 is donated */
	assert_int_equal(arena->live.count, 4);
	assert_int_equal(arena->live.bytes, 4 * 48);
	assert_int_equal(arena->bin.bytes, 28 * 48 + 192);
	assert_true(arena->live.bytes < h.live.bytes);
	assert_true(arena->bin.bytes < h.free.bytes);
	assert_int_equal(heap.mapped.bytes, h.mapped_bytes);
}

/* Move the outer group so that its head and the nested group are on different pages. */
static void move_outer_group(void)
{
	uint64_t addr = h.mapped_addr - 16 + PAGE - 1104;
	uint64_t nested = addr + (h.nested_addr - h.outer_addr);

	mallocng_image_write(&h, h.mapped_meta_addr + 16, 0);
	for (uint64_t i = 0; i < PAGE; i += 8)
		mallocng_image_write(&h, addr + i,
				     mallocng_image_read(&h, h.outer_addr + i));
	mallocng_image_write(&h, h.outer_meta_addr + 16, addr);
	mallocng_image_write(&h, h.nested_meta_addr + 16, nested);
	h.outer_addr = addr;
	h.nested_addr = nested;
}

static void a_slot_with_a_swapped_out_group_is_not_a_block(void **state)
{
	(void)state;
	move_outer_group();
	walk();
	assert_int_equal(heap.quality, QUALITY_EXACT);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes);
	assert_int_not_equal(page_of(h.outer_addr), page_of(h.nested_addr));
	remove_page(h.nested_addr, true);
	walk();
	assert_bound("not counted");
	/* two slots of the outer group, and four of the group with 32 slots */
	assert_int_equal(heap.arenas[0].live.bytes, 2 * 496 + 4 * 48);
	assert_true(heap.arenas[0].live.bytes < h.live.bytes);
	assert_int_equal(heap.arenas[0].bin.bytes, h.free.bytes - 3 * 64);
}

/* The size of the block is at its end. */
static void a_slot_with_a_swapped_out_header_counts_as_live(void **state)
{
	uint64_t addr = h.mapped_addr + 4 * PAGE;

	(void)state;
	remove_page(addr, true);
	walk();
	assert_bound("count as live");
	assert_int_equal(heap.mapped.bytes, h.mapped_bytes);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes);
	assert_int_equal(heap.arenas[0].bin.bytes, h.free.bytes);
}

/* The counts of slots continue on a page that the image has not. */
static void swapped_out_counts_are_not_compared(void **state)
{
	uint64_t from = h.context_addr, to = page_of(from) + PAGE - 464 - 8 * 24;
	uint64_t bytes = 464 + 8 * 48;

	(void)state;
	for (uint64_t i = bytes; i > 0; i -= 8)
		mallocng_image_write(&h, to + i - 8,
				     mallocng_image_read(&h, from + i - 8));
	mallocng_image_write(&h, from, 0);
	walk();
	assert_int_equal(heap.quality, QUALITY_EXACT);
	remove_page(page_of(to) + PAGE, true);
	mallocng_image_write(&h, h.second_area_addr + 24 + 5 * 40 + 16, 0);
	walk();
	assert_bound("more blocks");
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes);
}

static void pages_that_are_not_swapped_out_make_an_estimate(void **state)
{
	const uint64_t addrs[] = { h.outer_addr, h.mapped_addr + 4 * PAGE };

	for (size_t i = 0; i < ARRAY_SIZE(addrs); i++) {
		remove_page(addrs[i], false);
		walk();
		assert_int_equal(heap.quality, QUALITY_ESTIMATE);
		assert_null(strstr(heap.problem, "swapped out"));
		end(state);
		begin(state);
	}
}

/* Something else of the same mappings is swapped out. */
static void wrong_contents_make_an_estimate(void **state)
{
	const uint64_t addrs[] = { h.outer_addr, h.outer_addr + 16 + 496 - 8,
				   h.outer_meta_addr + 32,
				   h.context_addr + 464 + 8 * 15 };

	for (size_t i = 0; i < ARRAY_SIZE(addrs); i++) {
		remove_page(h.mapped_addr + 4 * PAGE, true);
		made_memory_count_swapped(&h.mappings, h.outer_addr);
		mallocng_image_write(&h, addrs[i], 9);
		walk();
		assert_int_equal(heap.quality, QUALITY_ESTIMATE);
		end(state);
		begin(state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			groups_that_are_swapped_out_make_lower_bounds, begin, end),
		cmocka_unit_test_setup_teardown(
			a_slot_with_a_swapped_out_group_is_not_a_block, begin, end),
		cmocka_unit_test_setup_teardown(
			a_slot_with_a_swapped_out_header_counts_as_live, begin, end),
		cmocka_unit_test_setup_teardown(swapped_out_counts_are_not_compared,
						begin, end),
		cmocka_unit_test_setup_teardown(
			pages_that_are_not_swapped_out_make_an_estimate, begin, end),
		cmocka_unit_test_setup_teardown(wrong_contents_make_an_estimate, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
