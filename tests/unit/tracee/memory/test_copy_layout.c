/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/copy_layout.h"

#include "../../support/unit.h"
#include "tracee/memory/page_bits.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define HEAP_ADDR UINT64_C(0x555555757000)
#define MMAP_ADDR UINT64_C(0x7ffff7000000)

static struct copy_layout layout;
static struct page_list list;

static int tear_down(void **state)
{
	(void)state;
	copy_layout_release(&layout);
	page_list_release(&list);
	return 0;
}

static uint64_t find(uint64_t start_addr, uint64_t end_addr)
{
	uint64_t offset;

	return copy_layout_find(&layout, start_addr, end_addr, &offset) ? offset
									: UINT64_MAX;
}

static void distant_mappings_are_in_two_spans(void **state)
{
	(void)state;
	page_list_add(&list, HEAP_ADDR, HEAP_ADDR + MIB);
	page_list_add(&list, MMAP_ADDR, MMAP_ADDR + 64 * MIB);
	assert_true(copy_layout_make(&layout, &list, GIB * 2));
	assert_int_equal(layout.count, 2);
	assert_true(copy_layout_contains(&layout, &list));
	assert_true(find(HEAP_ADDR, HEAP_ADDR + MIB) < find(MMAP_ADDR, MMAP_ADDR + MIB));
}

static void memory_that_grows_into_the_reserve_keeps_its_offset(void **state)
{
	uint64_t offset;

	(void)state;
	page_list_add(&list, HEAP_ADDR, HEAP_ADDR + MIB);
	assert_true(copy_layout_make(&layout, &list, GIB));
	offset = find(HEAP_ADDR, HEAP_ADDR + MIB);
	assert_int_equal(find(HEAP_ADDR, HEAP_ADDR + 200 * MIB), offset);
	assert_int_equal(find(HEAP_ADDR + MIB, HEAP_ADDR + 2 * MIB), offset + MIB);
	assert_int_equal(find(HEAP_ADDR - 100 * MIB, HEAP_ADDR), offset - 100 * MIB);
	assert_int_equal(find(HEAP_ADDR, HEAP_ADDR + 300 * MIB), UINT64_MAX);
	assert_int_equal(find(HEAP_ADDR - 300 * MIB, HEAP_ADDR), UINT64_MAX);
	page_list_add(&list, MMAP_ADDR, MMAP_ADDR + MIB);
	assert_false(copy_layout_contains(&layout, &list));
}

static void near_mappings_share_a_span(void **state)
{
	(void)state;
	page_list_add(&list, MMAP_ADDR, MMAP_ADDR + MIB);
	/* a mapping that smaps lists twice, because it grew */
	page_list_add(&list, MMAP_ADDR, MMAP_ADDR + 3 * MIB);
	page_list_add(&list, MMAP_ADDR + 500 * MIB, MMAP_ADDR + 600 * MIB);
	assert_true(copy_layout_make(&layout, &list, 2 * GIB));
	assert_int_equal(layout.count, 1);
	assert_int_equal(find(MMAP_ADDR + 500 * MIB, MMAP_ADDR + 501 * MIB) -
				 find(MMAP_ADDR, MMAP_ADDR + MIB),
			 500 * MIB);
}

static void offsets_suit_huge_pages(void **state)
{
	(void)state;
	page_list_add(&list, HEAP_ADDR, HEAP_ADDR + MIB);
	page_list_add(&list, MMAP_ADDR, MMAP_ADDR + MIB);
	assert_true(copy_layout_make(&layout, &list, 2 * GIB));
	assert_int_equal(find(HEAP_ADDR, HEAP_ADDR + MIB) % (2 * MIB),
			 HEAP_ADDR % (2 * MIB));
	assert_int_equal(find(MMAP_ADDR, MMAP_ADDR + MIB) % (2 * MIB),
			 MMAP_ADDR % (2 * MIB));
}

static void reserves_are_smaller_if_there_are_few_addresses(void **state)
{
	(void)state;
	page_list_add(&list, HEAP_ADDR, HEAP_ADDR + MIB);
	page_list_add(&list, MMAP_ADDR, MMAP_ADDR + MIB);
	assert_true(copy_layout_make(&layout, &list, 80 * MIB));
	assert_true(layout.bytes <= 80 * MIB);
	assert_int_not_equal(find(HEAP_ADDR, HEAP_ADDR + 8 * MIB), UINT64_MAX);
	copy_layout_release(&layout);
	assert_false(copy_layout_make(&layout, &list, 4 * MIB));
	assert_int_equal(layout.count, 0);
}

static void an_empty_list_has_no_layout(void **state)
{
	(void)state;
	assert_false(copy_layout_make(&layout, &list, GIB));
}

static void bits_are_found_across_words(void **state)
{
	uint64_t bits[3] = { 0, 0, UINT64_C(1) << 5 };

	(void)state;
	assert_int_equal(page_bits_find(bits, 3, 192, true), 133);
	assert_int_equal(page_bits_find(bits, 134, 192, true), 192);
	assert_int_equal(page_bits_find(bits, 0, 100, true), 100);
	assert_int_equal(page_bits_find(bits, 133, 192, false), 134);
	assert_int_equal(page_bits_find(bits, 50, 50, true), 50);
	page_bits_clear(bits, 60, 134);
	assert_int_equal(page_bits_find(bits, 0, 192, true), 192);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_teardown(f, tear_down)
		TEST(distant_mappings_are_in_two_spans),
		TEST(memory_that_grows_into_the_reserve_keeps_its_offset),
		TEST(near_mappings_share_a_span),
		TEST(offsets_suit_huge_pages),
		TEST(reserves_are_smaller_if_there_are_few_addresses),
		TEST(an_empty_list_has_no_layout),
		TEST(bits_are_found_across_words),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
