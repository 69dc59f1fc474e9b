/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How leaks are classified and grouped, and how certain they are. */
#include "config.h"

#include "classify/heap/leaks.h"

#include <string.h>

#include "classify/heap/block_groups.h"
#include "../../support/unit.h"
#include "walk/blocks/content.h"

#define ADDR UINT64_C(0x10000)

static void content_is_recognized_by_the_first_bytes(void **state)
{
	static const uint8_t zeros[300];
	static const uint64_t pointers[] = { ADDR + 8, 0, ADDR + 100, 77 };
	/* "xedcba" in memory */
	static const uint64_t printable[] = { 0x616263646578, 0 };
	static const uint64_t numbers[] = { ADDR + 8, 5, 6, 77 };
	static const struct {
		const void *bytes;
		size_t length;
		enum content content;
	} rows[] = {
		{ zeros, 300, CONTENT_ZEROS },
		{ "text\0\1\2\3", 8, CONTENT_TEXT },
		{ "four", 4, CONTENT_TEXT },
		{ "abc\0\0\0\0", 8, CONTENT_MIXED },
		{ "tex\377text", 8, CONTENT_MIXED },
		{ pointers, sizeof(pointers), CONTENT_POINTERS },
		{ printable, sizeof(printable), CONTENT_POINTERS },
		{ "xedcbb\0\0", 8, CONTENT_TEXT },
		{ numbers, sizeof(numbers), CONTENT_MIXED },
	};
	struct mapping items[] = {
		{ .start_addr = ADDR, .end_addr = ADDR + IMAGE_PAGE_BYTES },
		{ .start_addr = 0x616263640000, .end_addr = 0x616263650000 },
	};
	struct mapping_list mappings = { items, 2, 2 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct image image = IMAGE_INIT;

		assert_int_equal(image_reserve(&image, IMAGE_PAGE_BYTES), 0);
		image_add_run(&image, ADDR, ADDR + IMAGE_PAGE_BYTES);
		memcpy(image.bytes + 16, rows[i].bytes, rows[i].length);
		assert_int_equal(content_of(&image, &mappings, ADDR + 16, rows[i].length),
				 rows[i].content);
		assert_int_equal(content_of(&image, &mappings, 5 * ADDR, 16),
				 CONTENT_ABSENT);
		image_release(&image);
	}
}

static void similar_blocks_form_a_group_and_the_largest_group_comes_first(void **state)
{
	static const char type[] = "Shape";
	struct block_groups groups = BLOCK_GROUPS_INIT;
	struct leak leak = { .bytes = 40 };

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		/* descending, the order in which a mark reports them */
		leak.addr = ADDR + (999 - i) * 64;
		leak.bytes = i < 900 ? 40 + i % 3 * 16 : 8 * i;
		leak.indirect = (struct chunk_sum){ i % 3 == 1, i % 3 == 1 ? 100 : 0 };
		block_groups_add(&groups, i % 3 == 2 ? type : NULL, CONTENT_ZEROS, &leak);
	}
	leak.bytes = 40;
	block_groups_add(&groups, NULL, CONTENT_TEXT, &leak);
	block_groups_sort(&groups);
	assert_int_equal(groups.count, 3 + 100 + 1);
	assert_int_equal(groups.items[0].block_bytes, 56);
	assert_int_equal(groups.items[0].sum.count, 300);
	assert_int_equal(groups.items[0].sum.bytes, 300 * 56);
	assert_int_equal(groups.items[0].indirect.bytes, 300 * 100);
	assert_int_equal(groups.items[0].example_count, 3);
	assert_true(groups.items[0].examples[0] < groups.items[0].examples[1]);
	assert_ptr_equal(groups.items[1].type, type);
	assert_int_equal(groups.items[1].block_bytes, 72);
	for (size_t i = 1; i < groups.count; i++)
		assert_true(groups.items[i - 1].sum.bytes +
				    groups.items[i - 1].indirect.bytes >=
			    groups.items[i].sum.bytes + groups.items[i].indirect.bytes);
	block_groups_release(&groups);
}

static void swapped_memory_gives_a_bound_and_an_inexact_heap_nothing(void **state)
{
	struct mapping m = { .flags = MAPPING_READ | MAPPING_WRITE };
	const struct mapping_list mappings = { &m, 1, 1 };
	struct heap heap;
	struct leak_scan scan = { .mappings = &mappings, .heap = &heap };

	(void)state;
	heap_init(&heap);
	heap.quality = QUALITY_EXACT;
	heap.allocator = ALLOCATOR_GLIBC;
	leaks_set_quality(&scan);
	assert_int_equal(scan.quality, QUALITY_EXACT);
	assert_null(scan.problem);

	m.counters.bytes[SMAPS_SWAP] = 4096;
	leaks_set_quality(&scan);
	assert_int_equal(scan.quality, QUALITY_BOUND);
	assert_int_equal(scan.swapped_bytes, 4096);
	assert_non_null(scan.problem);

	heap.problem = "its chain is broken";
	for (int quality = QUALITY_UNKNOWN; quality < QUALITY_EXACT; quality++) {
		heap.quality = (enum quality)quality;
		leaks_set_quality(&scan);
		assert_int_equal(scan.quality, QUALITY_UNKNOWN);
		assert_string_equal(scan.problem, heap.problem);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(content_is_recognized_by_the_first_bytes),
		cmocka_unit_test(
			similar_blocks_form_a_group_and_the_largest_group_comes_first),
		cmocka_unit_test(
			swapped_memory_gives_a_bound_and_an_inexact_heap_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
