/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search for glibc's chunks that have their own mappings. */
#include "config.h"

#include "walk/walk.h"

#include <stdlib.h>
#include <string.h>

#include "../../support/heap_image.h"
#include "../../support/unit.h"

/* The chunk with its own mapping of 5 pages in every image. */
#define MMAPPED_ADDR UINT64_C(0x7f1000000000)

static void a_missing_mmapped_chunk_makes_an_estimate(void **state)
{
	struct heap_image h;
	struct heap heap;

	(void)state;
	heap_image_init(&h, &heap_kinds[4]);
	heap_image_write(&h, MMAPPED_ADDR + 8, 0);
	heap_image_walk(&h, &heap);
	assert_int_equal(heap.quality, QUALITY_ESTIMATE);
	assert_int_equal(heap.mapped.count, 0);
	heap_release(&heap);
	heap_image_release(&h);
}

/* Memory of a runtime may contain what looks like the head of an mmapped chunk. */
static void an_mmapped_chunk_is_not_in_the_memory_of_a_runtime(void **state)
{
	uint8_t *claimed;
	struct heap_image h;
	struct heap heap;
	const struct image_run *run;

	(void)state;
	heap_image_init(&h, &heap_kinds[4]);
	claimed = calloc(h.image.length_bytes / IMAGE_PAGE_BYTES, 1);
	assert_non_null(claimed);
	h.claimed = claimed;
	heap_image_walk(&h, &heap);
	assert_int_equal(heap.mapped.count, 1);
	heap_release(&heap);
	run = image_run_at(&h.image, MMAPPED_ADDR);
	assert_non_null(run);
	claimed[run->offset_bytes / IMAGE_PAGE_BYTES] = 1;
	heap_image_walk(&h, &heap);
	assert_int_equal(heap.mapped.count, 0);
	heap_release(&heap);
	heap_image_release(&h);
	free(claimed);
}

/* Return the number of mmapped chunks in a heap that must be exact. */
static uint64_t count_mmapped(struct heap_image *h)
{
	struct heap heap;
	uint64_t count;

	heap_image_walk(h, &heap);
	assert_int_equal(heap.quality, QUALITY_EXACT);
	count = heap.mapped.count;
	heap_release(&heap);
	return count;
}

static void no_mmapped_chunk_begins_at_a_later_page_of_its_mapping(void **state)
{
	const uint64_t page = UINT64_C(0x7f3000001000); /* the thread's second page */
	struct heap_image h;

	(void)state;
	heap_image_init(&h, &heap_kinds[4]);
	heap_image_write(&h, page, IMAGE_PAGE_BYTES);
	heap_image_write(&h, page + 8, IMAGE_PAGE_BYTES | 2);
	assert_int_equal(count_mmapped(&h), 1);
	heap_image_release(&h);
}

/* Add two adjacent mappings, and remove the mmapped chunk of the image. */
static void add_adjacent(struct heap_image *h, uint64_t addr, uint64_t first_pages,
			 uint64_t second_pages)
{
	const uint64_t middle_addr = addr + first_pages * IMAGE_PAGE_BYTES;
	const uint64_t end_addr = middle_addr + second_pages * IMAGE_PAGE_BYTES;
	struct mapping m = { .start_addr = addr,
			     .end_addr = middle_addr,
			     .flags = MAPPING_READ | MAPPING_WRITE,
			     .owner = OWNER_ANON,
			     .name = "" };
	uint64_t length;

	heap_image_init(h, &heap_kinds[4]);
	length = h->image.length_bytes;
	assert_int_equal(image_reserve(&h->image, length + end_addr - addr), 0);
	memset(h->image.bytes + length, 0, end_addr - addr);
	m.counters.bytes[SMAPS_RSS] = middle_addr - addr;
	mapping_list_add(&h->mappings, &m);
	m.start_addr = middle_addr;
	m.end_addr = end_addr;
	m.counters.bytes[SMAPS_RSS] = end_addr - middle_addr;
	mapping_list_add(&h->mappings, &m);
	assert_int_equal(image_add_run(&h->image, addr, end_addr), 0);
	heap_image_write(h, MMAPPED_ADDR + 8, 0);
}

static void a_table_before_an_mmapped_chunk_is_not_searched(void **state)
{
	const uint64_t addr = UINT64_C(0x7f4000000000);
	struct heap_image h;

	(void)state;
	add_adjacent(&h, addr, 8, 5);
	heap_image_write(&h, addr + 8, IMAGE_PAGE_BYTES | 2);
	heap_image_write(&h, addr + 8 * IMAGE_PAGE_BYTES + 8, (5 * IMAGE_PAGE_BYTES) | 2);
	assert_int_equal(count_mmapped(&h), 1);
	heap_image_release(&h);
}

static void an_mmapped_chunk_may_span_two_mappings(void **state)
{
	const uint64_t addr = UINT64_C(0x7f4000000000);
	struct heap_image h;

	(void)state;
	add_adjacent(&h, addr, 3, 2);
	heap_image_write(&h, addr + 8, (5 * IMAGE_PAGE_BYTES) | 2);
	assert_int_equal(count_mmapped(&h), 1);
	heap_image_release(&h);
}

/* Return the address of the block that contains the end of the mmapped chunk. */
static uint64_t find_mmapped(struct heap_image *h)
{
	struct block block;
	struct heap heap;

	heap_image_walk(h, &heap);
	assert_int_equal(heap.quality, QUALITY_EXACT);
	heap_release(&heap);
	assert_true(
		blocks_find(&h->blocks, MMAPPED_ADDR + 5 * IMAGE_PAGE_BYTES - 1, &block));
	return block.addr;
}

/* Make the contents of all 5 pages, except the head, the same value. */
static void fill_chunk(struct heap_image *h, int value)
{
	uint64_t length = 5 * IMAGE_PAGE_BYTES - 16;
	const uint8_t *at = image_at(&h->image, MMAPPED_ADDR + 16, length);

	assert_non_null(at);
	memset((uint8_t *)(uintptr_t)at, value, length);
}

/* Write what looks like the head of an aligned chunk at the end of a page. */
static uint64_t write_head_in_page(struct heap_image *h, unsigned int page)
{
	uint64_t offset = (page + 1) * IMAGE_PAGE_BYTES - 16;

	heap_image_write(h, MMAPPED_ADDR + offset, offset);
	heap_image_write(h, MMAPPED_ADDR + offset + 8,
			 (5 * IMAGE_PAGE_BYTES - offset) | 2);
	return MMAPPED_ADDR + offset + 16;
}

static void an_aligned_block_follows_pages_of_one_value(void **state)
{
	const int values[] = { 0, 0xa5 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		for (unsigned int page = 0; page < 4; page++) {
			struct heap_image h;
			uint64_t addr;

			heap_image_init(&h, &heap_kinds[4]);
			fill_chunk(&h, values[i]);
			assert_int_equal(find_mmapped(&h), MMAPPED_ADDR + 16);
			addr = write_head_in_page(&h, page);
			assert_int_equal(find_mmapped(&h), addr);
			heap_image_release(&h);
		}
}

/* Data of the program cannot move the start of its block. */
static void a_forged_head_after_other_data_is_ignored(void **state)
{
	const uint64_t offsets[] = { 16, IMAGE_PAGE_BYTES - 8, IMAGE_PAGE_BYTES + 80 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++)
		for (unsigned int page = 2; page < 4; page++) {
			struct heap_image h;

			heap_image_init(&h, &heap_kinds[4]);
			fill_chunk(&h, 0);
			heap_image_write(&h, MMAPPED_ADDR + offsets[i], 1);
			write_head_in_page(&h, page);
			assert_int_equal(find_mmapped(&h), MMAPPED_ADDR + 16);
			heap_image_release(&h);
		}
}

/* If absent pages read as zeros, the search for missing chunks would only take time. */
static void a_walk_of_a_copy_that_was_cut_ends(void **state)
{
	struct heap_image h;
	struct heap heap;

	(void)state;
	heap_image_init(&h, &heap_kinds[4]);
	h.image.is_cut = true;
	heap_image_walk(&h, &heap);
	assert_int_not_equal(heap.quality, QUALITY_EXACT);
	assert_int_equal(heap.mapped.count, 0);
	for (size_t i = 0; i < heap.arena_count; i++)
		assert_int_equal(heap.arenas[i].live.count, 0);
	heap_release(&heap);
	heap_image_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_missing_mmapped_chunk_makes_an_estimate),
		cmocka_unit_test(an_mmapped_chunk_is_not_in_the_memory_of_a_runtime),
		cmocka_unit_test(no_mmapped_chunk_begins_at_a_later_page_of_its_mapping),
		cmocka_unit_test(a_table_before_an_mmapped_chunk_is_not_searched),
		cmocka_unit_test(an_mmapped_chunk_may_span_two_mappings),
		cmocka_unit_test(a_walk_of_a_copy_that_was_cut_ends),
		cmocka_unit_test(an_aligned_block_follows_pages_of_one_value),
		cmocka_unit_test(a_forged_head_after_other_data_is_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
