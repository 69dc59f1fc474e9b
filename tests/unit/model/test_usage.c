/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/usage.h"

#include <string.h>
#include <strings.h>

#include "model/allocator_signs.h"
#include "model/image.h"
#include "../support/unit.h"

static void a_matrix_without_a_heap_is_zero_except_for_an_unknown_heap(void **state)
{
	struct matrix m;

	(void)state;
	matrix_set_no_heap(&m);
	assert_true(matrix_owner_bytes(&m, OWNER_LIVE) == BYTES_UNKNOWN);
	assert_true(matrix_owner_bytes(&m, OWNER_HEAP_META) == BYTES_UNKNOWN);
	assert_true(matrix_owner_bytes(&m, OWNER_STACK) == 0);
	assert_true(matrix_state_bytes(&m, STATE_LAZYFREE) == 0);
	assert_true(matrix_total_bytes(&m) == 0);
}

static void an_unknown_matrix_has_unknown_margins(void **state)
{
	struct matrix m;

	(void)state;
	matrix_set_unknown(&m);
	assert_true(matrix_owner_bytes(&m, OWNER_FILE) == BYTES_UNKNOWN);
	assert_true(matrix_state_bytes(&m, STATE_PRIVATE_DIRTY) == BYTES_UNKNOWN);
	assert_true(matrix_total_bytes(&m) == BYTES_UNKNOWN);
}

static void margins_are_sums_of_rows_and_columns(void **state)
{
	struct matrix m;

	(void)state;
	matrix_set_no_heap(&m);
	m.cell[OWNER_ANON][STATE_PRIVATE_DIRTY] = 100;
	m.cell[OWNER_ANON][STATE_LAZYFREE] = 20;
	m.cell[OWNER_FILE][STATE_PRIVATE_DIRTY] = 3;
	m.cell[OWNER_FILE][STATE_SHARED_CLEAN] = 4000;
	assert_true(matrix_owner_bytes(&m, OWNER_ANON) == 120);
	assert_true(matrix_owner_bytes(&m, OWNER_FILE) == 4003);
	assert_true(matrix_state_bytes(&m, STATE_PRIVATE_DIRTY) == 103);
	assert_true(matrix_state_bytes(&m, STATE_SHARED_CLEAN) == 4000);
	assert_true(matrix_total_bytes(&m) == 4123);
}

/*
 * Linux before 4.12 does not report LazyFree, so private_clean without
 * LazyFree is unknown as well.
 */
static void a_sum_with_an_unknown_part_is_unknown(void **state)
{
	struct matrix m;

	(void)state;
	matrix_set_no_heap(&m);
	m.cell[OWNER_FILE][STATE_PRIVATE_DIRTY] = 3;
	m.cell[OWNER_FILE][STATE_LAZYFREE] = BYTES_UNKNOWN;
	m.owner_rss_bytes[OWNER_FILE] = 10;
	assert_true(matrix_owner_bytes(&m, OWNER_FILE) == 10);
	m.owner_rss_bytes[OWNER_FILE] = BYTES_UNKNOWN;
	assert_true(matrix_owner_bytes(&m, OWNER_FILE) == BYTES_UNKNOWN);
	assert_true(matrix_owner_bytes(&m, OWNER_ANON) == 0);
	assert_true(matrix_state_bytes(&m, STATE_LAZYFREE) == BYTES_UNKNOWN);
	assert_true(matrix_state_bytes(&m, STATE_PRIVATE_DIRTY) == 3);
	assert_true(matrix_total_bytes(&m) == BYTES_UNKNOWN);
}

static void an_overflowing_sum_stays_unknown(void **state)
{
	struct matrix m;

	(void)state;
	matrix_set_no_heap(&m);
	m.cell[OWNER_ANON][STATE_PRIVATE_DIRTY] = UINT64_C(1) << 63;
	m.cell[OWNER_ANON][STATE_LAZYFREE] = UINT64_C(1) << 63;
	m.cell[OWNER_ANON][STATE_SHARED_CLEAN] = 5;
	m.owner_rss_bytes[OWNER_ANON] = BYTES_UNKNOWN;
	assert_true(matrix_owner_bytes(&m, OWNER_ANON) == BYTES_UNKNOWN);
	assert_true(matrix_total_bytes(&m) == BYTES_UNKNOWN);
	assert_true(matrix_state_bytes(&m, STATE_SHARED_CLEAN) == 5);
}

static void all_names_are_unique(void **state)
{
	(void)state;
	for (unsigned int a = 0; a < OWNER_COUNT_; a++)
		for (unsigned int b = 0; b < a; b++)
			assert_string_not_equal(owner_names[a], owner_names[b]);
	for (unsigned int a = 0; a < STATE_COUNT_; a++)
		for (unsigned int b = 0; b < a; b++)
			assert_string_not_equal(page_state_names[a], page_state_names[b]);
	for (unsigned int a = 0; a < SOURCE_COUNT_; a++)
		assert_non_null(source_names[a]);
	for (unsigned int a = 0; a < QUALITY_COUNT_; a++)
		assert_non_null(quality_names[a]);
	for (unsigned int a = ALLOCATOR_UNKNOWN + 1; a < ALLOCATOR_COUNT_; a++)
		assert_non_null(allocator_names[a]);
}

static void titles_of_mallocs_contain_malloc_once(void **state)
{
	(void)state;
	assert_null(allocator_titles[ALLOCATOR_UNKNOWN]);
	for (unsigned int a = ALLOCATOR_UNKNOWN + 1; a < ALLOCATOR_COUNT_; a++) {
		const char *title = allocator_titles[a];
		const char *first = strstr(title, "malloc");

		assert_true(strncasecmp(title, allocator_names[a],
					strlen(allocator_names[a])) == 0);
		assert_int_equal(first != NULL, allocator_is_malloc((enum allocator)a));
		assert_true(!first || !strstr(first + 1, "malloc"));
	}
}

static void a_field_missing_in_one_record_is_missing_in_the_sum(void **state)
{
	struct counters sum, c;

	(void)state;
	counters_set_zero(&sum);
	counters_set_zero(&c);
	c.bytes[SMAPS_RSS] = 4096;
	counters_add(&sum, &c);
	c.bytes[SMAPS_SWAP] = BYTES_UNKNOWN;
	counters_add(&sum, &c);
	c.bytes[SMAPS_SWAP] = 1;
	counters_add(&sum, &c);
	assert_true(sum.bytes[SMAPS_RSS] == 3 * 4096);
	assert_true(sum.bytes[SMAPS_SWAP] == BYTES_UNKNOWN);
	assert_true(sum.bytes[SMAPS_PSS] == 0);
}

static void a_new_usage_is_all_unknown(void **state)
{
	struct usage u;

	(void)state;
	usage_init(&u);
	assert_int_equal(u.source, SOURCE_NONE);
	assert_true(u.process.uid == UINT32_MAX);
	assert_true(u.mapping_count == MAPPING_COUNT_UNKNOWN);
	for (unsigned int f = 0; f < SMAPS_FIELD_COUNT_; f++)
		assert_true(u.total.bytes[f] == BYTES_UNKNOWN);
	for (unsigned int s = 0; s < STATE_COUNT_; s++)
		assert_true(u.state_bytes[s] == BYTES_UNKNOWN);
	assert_true(usage_uss_bytes(&u) == BYTES_UNKNOWN);
	assert_true(usage_hugetlb_bytes(&u) == BYTES_UNKNOWN);
	assert_true(usage_thp_bytes(&u) == BYTES_UNKNOWN);
	assert_true(usage_unexplained_bytes(&u) == BYTES_UNKNOWN);
	assert_true(u.unbacked_bytes == BYTES_UNKNOWN &&
		    u.reserved_bytes == BYTES_UNKNOWN);
	usage_release(&u);
}

static void the_unexplained_remainder_is_computed(void **state)
{
	struct usage u;

	(void)state;
	usage_init(&u);
	usage_set_no_memory(&u);
	u.total.bytes[SMAPS_RSS] = 1000;
	u.matrix.cell[OWNER_ANON][STATE_PRIVATE_DIRTY] = 900;
	assert_true(usage_unexplained_bytes(&u) == 100);

	/* without owners, the sum over the states counts */
	matrix_set_unknown(&u.matrix);
	u.state_bytes[STATE_SHARED_CLEAN] = 999;
	assert_true(usage_unexplained_bytes(&u) == 1);
	u.state_bytes[STATE_LAZYFREE] = BYTES_UNKNOWN;
	assert_true(usage_unexplained_bytes(&u) == BYTES_UNKNOWN);
}

static void a_snapshot_finds_by_pid_until_cleared(void **state)
{
	struct snapshot s;

	(void)state;
	snapshot_init(&s);
	for (int pid = 1; pid <= 100; pid++) {
		struct usage *u = snapshot_add(&s);

		u->process.pid = pid;
		u->command = strdup("command");
	}
	assert_int_equal(snapshot_find(&s, 57)->process.pid, 57);
	assert_null(snapshot_find(&s, 101));
	s.gone_count = s.unreadable_count = 3;
	snapshot_clear(&s);
	assert_int_equal(s.count + s.gone_count + s.unreadable_count, 0);
	assert_null(snapshot_find(&s, 57));
	snapshot_release(&s);
}

static void a_list_of_mappings_owns_its_names(void **state)
{
	struct mapping_list list = MAPPING_LIST_INIT;
	char name[] = "/a/file";
	struct mapping m = { .name = name, .name_length = sizeof(name) - 1 };

	(void)state;
	for (int i = 0; i < 50; i++)
		mapping_list_add(&list, &m);
	m.name_length = 0;
	m.name = "";
	mapping_list_add(&list, &m);
	memset(name, 'x', strlen(name));
	assert_string_equal(list.items[0].name, "/a/file");
	assert_string_equal(list.items[50].name, "");
	mapping_list_release(&list);
	assert_int_equal(list.count, 0);
}

static void permissions_are_shown_as_in_maps(void **state)
{
	struct mapping m = { .flags = MAPPING_READ | MAPPING_EXEC | MAPPING_NO_HUGE };
	char buf[5];

	(void)state;
	assert_string_equal(mapping_format_perms(&m, buf), "r-xp");
	m.flags = MAPPING_WRITE | MAPPING_SHARED;
	assert_string_equal(mapping_format_perms(&m, buf), "-w-s");
}

static void unnamed_allocator_mappings_are_grouped(void **state)
{
	struct mapping arena = { .name = "", .flags = MAPPING_HEAP };
	struct mapping heap = { .name = "[heap]",
				.name_length = 6,
				.flags = MAPPING_HEAP };
	struct mapping other = { .name = "" };
	struct mapping runtime = { .name = "",
				   .flags = MAPPING_HEAP |
					    ALLOCATOR_GO << MAPPING_ALLOCATOR_SHIFT };

	(void)state;
	assert_string_equal(mapping_group_name(&arena), "malloc");
	assert_string_equal(mapping_group_name(&runtime), "Go heap");
	runtime.flags |= MAPPING_ALLOCATOR_MASK; /* not an allocator */
	assert_string_equal(mapping_group_name(&runtime), "malloc");
	arena.flags |= ALLOCATOR_JEMALLOC << MAPPING_ALLOCATOR_SHIFT;
	assert_string_equal(mapping_group_name(&arena), "malloc");
	assert_string_equal(mapping_group_name(&heap), "[heap]");
	assert_string_equal(mapping_group_name(&other), "");
}

/* Look up addr with each possible hint, and compare with a linear search. */
static void check_lookup(struct image *image, uint64_t addr, uint64_t limit)
{
	const struct image_run *expected = NULL;
	uint64_t next = limit;

	for (size_t i = image->run_count; i > 0; i--) {
		const struct image_run *run = &image->runs[i - 1];

		if (addr >= run->start_addr && addr < run->end_addr)
			expected = run;
		if (addr < run->end_addr && run->start_addr < limit)
			next = addr > run->start_addr ? addr : run->start_addr;
	}
	for (size_t hint = 0; hint <= image->run_count; hint++) {
		image->hint = hint;
		assert_ptr_equal(image_run_at(image, addr), expected);
		image->hint = hint;
		assert_true(image_next_resident(image, addr, limit) ==
			    (addr < limit ? next : addr));
	}
}

static void lookups_in_an_image_do_not_depend_on_the_last_one(void **state)
{
	static const uint64_t pages[][2] = { { 2, 4 }, { 5, 6 }, { 9, 12 }, { 13, 14 } };
	struct image image = IMAGE_INIT;

	(void)state;
	check_lookup(&image, 4096, 8192);
	assert_int_equal(image_reserve(&image, UINT64_C(7) * 4096), 0);
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		assert_int_equal(
			image_add_run(&image, pages[i][0] * 4096, pages[i][1] * 4096), 0);
	for (uint64_t addr = 0; addr < UINT64_C(16) * 4096; addr += 2048)
		for (uint64_t limit = 0; limit <= UINT64_C(16) * 4096; limit += 2048)
			check_lookup(&image, addr, limit);
	image_release(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unnamed_allocator_mappings_are_grouped),
		cmocka_unit_test(
			a_matrix_without_a_heap_is_zero_except_for_an_unknown_heap),
		cmocka_unit_test(an_unknown_matrix_has_unknown_margins),
		cmocka_unit_test(margins_are_sums_of_rows_and_columns),
		cmocka_unit_test(a_sum_with_an_unknown_part_is_unknown),
		cmocka_unit_test(an_overflowing_sum_stays_unknown),
		cmocka_unit_test(all_names_are_unique),
		cmocka_unit_test(titles_of_mallocs_contain_malloc_once),
		cmocka_unit_test(a_field_missing_in_one_record_is_missing_in_the_sum),
		cmocka_unit_test(a_new_usage_is_all_unknown),
		cmocka_unit_test(the_unexplained_remainder_is_computed),
		cmocka_unit_test(a_snapshot_finds_by_pid_until_cleared),
		cmocka_unit_test(a_list_of_mappings_owns_its_names),
		cmocka_unit_test(permissions_are_shown_as_in_maps),
		cmocka_unit_test(lookups_in_an_image_do_not_depend_on_the_last_one),
	};

	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
