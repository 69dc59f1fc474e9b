/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of glibc's heap that are swapped out: an arena with missing chunks is not
 * counted, so that the live bytes are a lower bound, apart from blocks in thread caches.
 * If the same page is missing but not swapped out, the figures are an estimate.
 */
#include "config.h"

#include "walk/walk.h"

#include <stdio.h>
#include <string.h>

#include "../../support/heap_image.h"
#include "../../support/made_memory.h"
#include "../../support/unit.h"

#define ROW_SIZE 64

static struct heap_image h;
static struct heap intact, heap;

/* Walk the heap of a glibc version without the page at addr. */
static void walk_without(const struct heap_kind *kind, uint64_t addr, bool is_swapped)
{
	heap_image_init(&h, kind);
	made_memory_remove_page(&h.image, &h.mappings, addr, is_swapped);
	heap_image_walk(&h, &heap);
}

static void release(void)
{
	heap_release(&heap);
	heap_image_release(&h);
}

static void walk_intact(const struct heap_kind *kind)
{
	heap_image_init(&h, kind);
	heap_image_walk(&h, &intact);
	assert_row(intact.quality == QUALITY_EXACT, kind->version);
}

static uint64_t sum_kept(const struct heap_arena *arena)
{
	return arena->live.bytes + arena->cached.bytes;
}

/*
 * Check that arenas without a problem have all their blocks. If the thread's cache is
 * missing, its blocks count as live, and so does the cache itself.
 */
static void check_bound(const struct heap_kind *kind, const char *row)
{
	assert_row(strstr(heap.problem, "swapped out") != NULL, row);
	assert_row(heap.mapped.bytes == intact.mapped.bytes, row);
	assert_row(heap.arena_count == intact.arena_count, row);
	for (size_t i = 0; i < heap.arena_count; i++) {
		const struct heap_arena *now = &heap.arenas[i];
		const struct heap_arena *whole = &intact.arenas[i];

		if (now->problem) {
			assert_row(now->live.bytes == 0, row);
			assert_row(strstr(now->problem, "swapped out") != NULL, row);
			continue;
		}
		assert_row(now->bin.bytes == whole->bin.bytes, row);
		assert_row(now->top_bytes == whole->top_bytes, row);
		assert_row(now->live.bytes >= whole->live.bytes, row);
		assert_row(sum_kept(now) >= sum_kept(whole), row);
		assert_row(sum_kept(now) <= sum_kept(whole) + kind->cache_chunk_bytes,
			   row);
	}
}

static void check_exact(const char *row)
{
	struct heap_arena now, whole;

	heap_sum_arenas(&heap, &now);
	heap_sum_arenas(&intact, &whole);
	assert_row(now.live.bytes == whole.live.bytes, row);
	assert_row(now.live.count == whole.live.count, row);
	assert_row(now.cached.bytes == whole.cached.bytes, row);
	assert_row(now.bin.bytes == whole.bin.bytes, row);
}

/* Without the page at addr, return true if the figures are bounds. */
static bool check_page(const struct heap_kind *kind, uint64_t addr)
{
	bool is_bound;
	char row[ROW_SIZE];

	snprintf(row, sizeof(row), "glibc %s without %llx", kind->version,
		 (unsigned long long)addr);
	walk_without(kind, addr, true);
	is_bound = heap.quality == QUALITY_BOUND;
	if (is_bound)
		check_bound(kind, row);
	else if (heap.quality == QUALITY_EXACT)
		check_exact(row);
	release();
	return is_bound;
}

static void each_page_of_each_version(void **state)
{
	(void)state;
	for (size_t k = 0; k < heap_kind_count; k++) {
		struct heap_image all;
		int bound_count = 0;

		walk_intact(&heap_kinds[k]);
		all = h;
		for (size_t i = 0; i < all.image.run_count; i++)
			for (uint64_t addr = all.image.runs[i].start_addr;
			     addr < all.image.runs[i].end_addr; addr += IMAGE_PAGE_BYTES)
				bound_count += check_page(&heap_kinds[k], addr);
		/* the pages of both arenas that contain heads of chunks */
		assert_row(bound_count >= 5, heap_kinds[k].version);
		heap_release(&intact);
		heap_image_release(&all);
	}
}

static void only_swapped_memory_makes_a_bound(void **state)
{
	const struct heap_kind *kind = &heap_kinds[4];

	(void)state;
	walk_intact(kind);
	for (int is_swapped = 0; is_swapped < 2; is_swapped++) {
		uint64_t addr = h.heap_addr;

		heap_image_release(&h);
		walk_without(kind, addr, is_swapped);
		assert_int_equal(heap.quality,
				 is_swapped ? QUALITY_BOUND : QUALITY_ESTIMATE);
		assert_int_equal(strstr(heap.problem, "swapped out") != NULL, is_swapped);
		heap_release(&heap);
	}
	heap_image_release(&h);
	heap_release(&intact);
}

/* A wrong structure in an arena that is completely resident is not due to swapping. */
static void swapped_memory_elsewhere_does_not_excuse_a_broken_arena(void **state)
{
	const struct heap_kind *kind = &heap_kinds[4];

	(void)state;
	heap_image_init(&h, kind);
	heap_image_write(&h, h.bin_addr + 16, h.bin_addr);
	made_memory_remove_page(&h.image, &h.mappings,
				h.second_live_addr + IMAGE_PAGE_BYTES, true);
	heap_image_walk(&h, &heap);
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_string_equal(heap.problem, "a bin is broken");
	assert_string_equal(heap.arenas[0].problem, "a bin is broken");
	release();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_page_of_each_version),
		cmocka_unit_test(only_swapped_memory_makes_a_bound),
		cmocka_unit_test(swapped_memory_elsewhere_does_not_excuse_a_broken_arena),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
