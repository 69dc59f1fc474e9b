/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heaps that claim the same memory are unknown. */
#include "config.h"

#include "walk/overlaps.h"

#include <string.h>

#include "../support/unit.h"

#define HEAPS 3
#define PAGES 2

static struct image image;
static struct walk_found found[HEAPS];

static const enum allocator allocators[HEAPS] = { ALLOCATOR_GLIBC, ALLOCATOR_PYTHON,
						  ALLOCATOR_JEMALLOC };

static int begin(void **state)
{
	(void)state;
	image = (struct image)IMAGE_INIT;
	assert_int_equal(image_reserve(&image, PAGES * IMAGE_PAGE_BYTES), 0);
	assert_int_equal(
		image_add_run(&image, 0x10000, 0x10000 + PAGES * IMAGE_PAGE_BYTES), 0);
	for (size_t i = 0; i < HEAPS; i++) {
		heap_init(&found[i].heap);
		found[i].heap.allocator = allocators[i];
		found[i].heap.quality = QUALITY_EXACT;
		found[i].heap.evidence = "its structures";
		found[i].blocks = (struct blocks)BLOCKS_INIT;
		blocks_init(&found[i].blocks, &image, 1);
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (size_t i = 0; i < HEAPS; i++) {
		heap_release(&found[i].heap);
		blocks_release(&found[i].blocks);
	}
	image_release(&image);
	return 0;
}

static void two_heaps_with_the_same_page_are_unknown(void **state)
{
	(void)state;
	found[0].blocks.pages[0].heap_bytes = 1;
	found[1].blocks.pages[1].heap_bytes = IMAGE_PAGE_BYTES;
	found[2].blocks.pages[1].heap_bytes = 1;
	walk_discard_overlaps(found, HEAPS);
	assert_int_equal(found[0].heap.quality, QUALITY_EXACT);
	assert_null(found[0].heap.problem);
	for (size_t i = 1; i < HEAPS; i++) {
		assert_int_equal(found[i].heap.quality, QUALITY_UNKNOWN);
		assert_non_null(strstr(found[i].heap.problem, "the same memory"));
		assert_int_equal(found[i].heap.allocator, allocators[i]);
		assert_non_null(found[i].heap.evidence);
		assert_null(found[i].blocks.pages);
	}
}

static void two_heaps_may_share_a_page(void **state)
{
	(void)state;
	found[0].blocks.pages[0].heap_bytes = 1000;
	found[1].blocks.pages[0].heap_bytes = IMAGE_PAGE_BYTES - 1000;
	walk_discard_overlaps(found, HEAPS);
	for (size_t i = 0; i < HEAPS; i++)
		assert_int_equal(found[i].heap.quality, QUALITY_EXACT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(two_heaps_with_the_same_page_are_unknown,
						begin, end),
		cmocka_unit_test_setup_teardown(two_heaps_may_share_a_page, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
