/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each heap of a process has its own types, fill levels, map and pins. */
#include "config.h"

#include "sample/heap/reader.h"

#include <string.h>

#include "../../support/heap_image.h"
#include "../../support/made_memory.h"
#include "../../support/pymalloc_image.h"
#include "../../support/unit.h"
#include "walk/blocks/detail.h"
#include "walk/walk.h"

#define POOL_BYTES 16384
#define CLASSES 32

/* A process whose heaps are those of the two images. */
struct two_heaps {
	struct heap_image glibc;
	struct pymalloc_image python;
	struct made_memory memory;
	struct heap_reader reader;
	struct heap heap;
	struct heap_detail detail;
};

static struct two_heaps two;

static int begin(void **state)
{
	const struct image *const images[] = { &two.glibc.image, &two.python.image };
	const struct mapping_list *const lists[] = { &two.glibc.mappings,
						     &two.python.mappings };

	(void)state;
	heap_image_init(&two.glibc, &heap_kinds[4]);
	pymalloc_image_init(&two.python, POOL_BYTES, CLASSES);
	pymalloc_image_add_objects(&two.python);
	made_memory_join(&two.memory, images, lists, 2);
	heap_reader_init(&two.reader, NULL, NULL, 0);
	two.reader.image = two.memory.image;
	two.memory.image = (struct image)IMAGE_INIT;
	return 0;
}

static void read_detail(void)
{
	const struct walk_input input = {
		.image = &two.reader.image,
		.mappings = &two.memory.mappings,
		.thread_addrs = &two.glibc.thread_addr,
		.thread_count = 1,
	};

	walk_heap(&input, &two.heap, &two.reader.blocks);
	heap_reader_detail(&two.reader, &two.heap, &two.memory.mappings, &two.detail);
}

static int end(void **state)
{
	(void)state;
	heap_detail_release(&two.detail);
	heap_release(&two.heap);
	heap_reader_release(&two.reader);
	made_memory_release(&two.memory);
	pymalloc_image_release(&two.python);
	heap_image_release(&two.glibc);
	return 0;
}

static void check_sum(const struct page_sum *sum, const struct page_sum *other)
{
	assert_int_equal(sum->page_count, other->page_count);
	assert_int_equal(sum->free_bytes, other->free_bytes);
}

/* Check that a detail equals that of the image which contains only this heap. */
static void check_same(const struct heap_detail *d, const struct heap_detail *alone)
{
	assert_non_null(d);
	assert_true(alone->has_pages && alone->has_blocks);
	assert_int_equal(d->has_blocks, true);
	for (size_t i = 0; i < FILL_COUNT_; i++)
		check_sum(&d->fill[i], &alone->fill[i]);
	check_sum(&d->fragmented, &alone->fragmented);
	assert_int_equal(d->type_count, alone->type_count);
	assert_int_equal(d->pin_count, alone->pin_count);
	for (size_t i = 0; i < d->type_count; i++) {
		assert_int_equal(d->types[i].size_bytes, alone->types[i].size_bytes);
		assert_int_equal(d->types[i].live.count, alone->types[i].live.count);
		check_sum(&d->types[i].pin.pages, &alone->types[i].pin.pages);
	}
	assert_int_equal(d->strip_count, alone->strip_count);
	for (size_t i = 0; i < d->strip_count; i++) {
		check_sum(&d->strips[i].sum, &alone->strips[i].sum);
		assert_int_equal(d->strips[i].start_addr, alone->strips[i].start_addr);
		assert_int_equal(d->strips[i].end_addr, alone->strips[i].end_addr);
	}
}

static void both_heaps_have_the_details_that_they_have_alone(void **state)
{
	struct heap_detail alone;
	struct heap heap;

	(void)state;
	read_detail();
	assert_int_equal(heap_count(&two.heap), 2);
	assert_int_equal(heap_at(&two.heap, 1)->allocator, ALLOCATOR_PYTHON);
	heap_image_walk(&two.glibc, &heap);
	walk_detail(&heap, &two.glibc.blocks, NULL, &alone);
	check_same(heap_detail_at(&two.detail, 0), &alone);
	heap_detail_release(&alone);
	heap_release(&heap);

	pymalloc_image_walk(&two.python, &heap);
	walk_detail(&heap, &two.python.blocks, NULL, &alone);
	check_same(heap_detail_at(&two.detail, 1), &alone);
	assert_int_equal(alone.strips[0].sum.page_count * IMAGE_PAGE_BYTES,
			 two.python.resident_bytes);
	heap_detail_release(&alone);
	heap_release(&heap);
}

static void the_objects_of_the_second_heap_are_counted_once(void **state)
{
	const struct heap_objects *objects;

	(void)state;
	read_detail();
	objects = heap_detail_objects(&two.detail, ALLOCATOR_PYTHON);
	assert_non_null(objects);
	assert_int_equal(two.detail.object_list_count, 1);
	assert_int_equal(two.detail.others[0].object_list_count, 0);
	assert_int_equal(heap_detail_at(&two.detail, 1)->problem == NULL, true);
}

static void a_heap_that_could_not_be_read_has_no_detail(void **state)
{
	(void)state;
	read_detail();
	heap_detail_release(&two.detail);
	two.heap.others[0].quality = QUALITY_UNKNOWN;
	heap_reader_detail(&two.reader, &two.heap, &two.memory.mappings, &two.detail);
	assert_non_null(heap_detail_at(&two.detail, 0));
	assert_null(heap_detail_at(&two.detail, 1));
	assert_null(heap_detail_at(&two.detail, 2));
	assert_null(heap_detail_at(NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			both_heaps_have_the_details_that_they_have_alone, begin, end),
		cmocka_unit_test_setup_teardown(
			the_objects_of_the_second_heap_are_counted_once, begin, end),
		cmocka_unit_test_setup_teardown(
			a_heap_that_could_not_be_read_has_no_detail, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
