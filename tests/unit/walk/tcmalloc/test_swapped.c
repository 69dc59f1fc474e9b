/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Swapped-out pages of a made-up heap of tcmalloc: which figures are bounds. */
#include "config.h"

#include "walk/walk.h"

#include <string.h>

#include "../../support/tcmalloc_image.h"
#include "../../support/made_memory.h"
#include "../../support/unit.h"

#define PAGE UINT64_C(4096)

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

#define SPAN_BYTES 48
#define LAST_OWN_PAGE (page_of(h.small_span_addr) + 4 * PAGE)

/* The page contains free blocks: 3 in a span's list, 32 in a batch, and 5 in a cache. */
static void lists_that_are_swapped_out_make_live_memory_an_upper_bound(void **state)
{
	const struct heap_arena *arena;

	(void)state;
	remove_page(h.small_addr, true);
	walk();
	assert_bound("count as live");
	arena = &heap.arenas[0];
	/* the addresses of the first blocks are known */
	assert_int_equal(arena->live.bytes, h.live.bytes + (2 + 31 + 4) * 32);
	assert_int_equal(arena->bin.bytes, h.free.bytes - (2 + 31) * 32);
	assert_int_equal(arena->cached.bytes, h.cached.bytes - 4 * 32);
}

/* Move the struct of a span to a page of its own. */
static uint64_t move_span(uint64_t addr, uint64_t list)
{
	uint64_t first = tcmalloc_image_read(&h, addr) - (h.small_addr >> 13);
	uint64_t last = first + tcmalloc_image_read(&h, addr + 8) - 1;
	uint64_t to = LAST_OWN_PAGE;

	for (uint64_t i = 0; i < SPAN_BYTES; i += 8)
		tcmalloc_image_write(&h, to + i, tcmalloc_image_read(&h, addr + i));
	tcmalloc_image_write(&h, h.leaf_word_addr + 8 * first, to);
	tcmalloc_image_write(&h, h.leaf_word_addr + 8 * last, to);
	if (list != 0) {
		tcmalloc_image_write(&h, list + 16, to);
		tcmalloc_image_write(&h, list + 24, to);
	}
	walk();
	assert_int_equal(heap.quality, QUALITY_EXACT);
	return to;
}

static uint64_t list_of_small_span(void)
{
	return h.central_addr + UINT64_C(1216) * h.small_class + 56;
}

/* The lists continue through blocks of the span, which are resident. */
static void spans_that_are_swapped_out_make_lower_bounds(void **state)
{
	const struct heap_arena *arena;

	(void)state;
	remove_page(move_span(h.small_span_addr, list_of_small_span()), true);
	walk();
	assert_bound("not counted");
	arena = &heap.arenas[0];
	/* the large block, and the span with blocks of 48 bytes, one of them cached */
	assert_int_equal(arena->live.bytes, 3 * 8192 + (8192 / 48 - 1) * 48);
	assert_true(arena->live.bytes < h.live.bytes);
	assert_int_equal(arena->bin.bytes, 0);
	assert_int_equal(arena->cached.bytes, 48);
}

/* A word in the middle of the span is out of date, and refers to another span. */
static void words_inside_a_swapped_out_span_are_not_broken(void **state)
{
	uint64_t span = move_span(h.large_span_addr, 0);

	(void)state;
	tcmalloc_image_write(&h, h.leaf_word_addr + 8 * 2, h.small_span_addr);
	walk();
	assert_int_equal(heap.quality, QUALITY_EXACT);
	remove_page(span, true);
	walk();
	assert_bound("not counted");
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes - 3 * 8192);
}

static void a_swapped_out_part_of_the_page_map_makes_lower_bounds(void **state)
{
	uint64_t bytes = tcmalloc_image_read(&h, h.stats_addr);

	(void)state;
	/* as if a span of one page were in a part of the page map that is missing */
	tcmalloc_image_write(&h, h.stats_addr, bytes + 8192);
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	made_memory_count_swapped(&h.mappings, h.leaf_word_addr);
	walk();
	assert_bound("not counted");
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes);
	/* missing spans cannot explain figures that are too low */
	tcmalloc_image_write(&h, h.stats_addr, bytes - 8192);
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
}

static void a_swapped_out_cache_makes_live_memory_an_upper_bound(void **state)
{
	(void)state;
	/* the end of the second cache */
	remove_page(h.first_cache_addr + 2 * PAGE, true);
	walk();
	assert_bound("count as live");
	assert_int_equal(heap.cache_count, 1);
	assert_int_equal(heap.arenas[0].live.bytes, h.live.bytes + 48);
	assert_int_equal(heap.arenas[0].cached.bytes, h.cached.bytes - 48);
	assert_int_equal(heap.arenas[0].bin.bytes, h.free.bytes);
}

static void pages_that_are_not_swapped_out_make_no_bound(void **state)
{
	(void)state;
	remove_page(h.small_addr, false);
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_null(strstr(heap.problem, "swapped out"));
	end(state);
	begin(state);
	remove_page(move_span(h.small_span_addr, list_of_small_span()), false);
	walk();
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	end(state);
	begin(state);
	remove_page(h.first_cache_addr + 2 * PAGE, false);
	walk();
	assert_true(heap.quality == QUALITY_ESTIMATE || heap.quality == QUALITY_UNKNOWN);
}

/* Another page, which contains free blocks, is swapped out. */
static void wrong_contents_make_an_estimate(void **state)
{
	const struct {
		const char *what;
		uint64_t addr, value;
	} rows[] = {
		{ "the start of a span", h.large_span_addr, 1 },
		{ "the number of blocks in use", h.small_span_addr + 40,
		  UINT64_C(300) | 3 << 16 },
		{ "a head in the row", h.row_addr + 20 * 48 + 16, h.row_addr },
		{ "the number of caches", h.count_addr, 3 },
		{ "the free bytes of the page heap", h.stats_addr + 8, 8192 },
	};
	struct walk_input input = { .image = &h.image, .mappings = &h.mappings };
	struct blocks blocks;

	(void)state;
	remove_page(h.small_addr, true);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t before = tcmalloc_image_read(&h, rows[i].addr);

		tcmalloc_image_write(&h, rows[i].addr, rows[i].value);
		heap_release(&heap);
		walk_heap(&input, &heap, &blocks);
		blocks_release(&blocks);
		assert_row(heap.quality == QUALITY_ESTIMATE, rows[i].what);
		assert_row(strstr(heap.problem, "swapped out") == NULL, rows[i].what);
		tcmalloc_image_write(&h, rows[i].addr, before);
	}
	walk();
	assert_bound("count as live");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			lists_that_are_swapped_out_make_live_memory_an_upper_bound, begin,
			end),
		cmocka_unit_test_setup_teardown(
			spans_that_are_swapped_out_make_lower_bounds, begin, end),
		cmocka_unit_test_setup_teardown(
			words_inside_a_swapped_out_span_are_not_broken, begin, end),
		cmocka_unit_test_setup_teardown(
			a_swapped_out_part_of_the_page_map_makes_lower_bounds, begin,
			end),
		cmocka_unit_test_setup_teardown(
			a_swapped_out_cache_makes_live_memory_an_upper_bound, begin, end),
		cmocka_unit_test_setup_teardown(
			pages_that_are_not_swapped_out_make_no_bound, begin, end),
		cmocka_unit_test_setup_teardown(wrong_contents_make_an_estimate, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
