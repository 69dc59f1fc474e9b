/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/process/recount.h"

#include <string.h>

#include "../../support/unit.h"

#define PAGE UINT64_C(4096)

/* A mapping with 10 private dirty pages. */
static struct mapping dirty_mapping(void)
{
	struct mapping m = { .flags = MAPPING_READ | MAPPING_WRITE, .name = "" };
	uint64_t *bytes = m.counters.bytes;

	counters_set_zero(&m.counters);
	bytes[SMAPS_SIZE] = 100 * PAGE;
	bytes[SMAPS_RSS] = bytes[SMAPS_PSS] = bytes[SMAPS_PSS_DIRTY] = 10 * PAGE;
	bytes[SMAPS_PRIVATE_DIRTY] = bytes[SMAPS_ANONYMOUS] = 10 * PAGE;
	bytes[SMAPS_REFERENCED] = 8 * PAGE;
	bytes[SMAPS_ANON_HUGE] = 2 * PAGE;
	return m;
}

static void check_unknown(struct mapping *m, uint64_t pages, uint64_t swapped_pages)
{
	struct mapping before = *m;

	assert_int_equal(recount_mapping(m, pages * PAGE, swapped_pages * PAGE),
			 RECOUNT_UNKNOWN);
	assert_memory_equal(&before.counters, &m->counters, sizeof(before.counters));
}

static void an_equal_count_changes_nothing(void **state)
{
	struct mapping m = dirty_mapping(), before = m;

	(void)state;
	assert_int_equal(recount_mapping(&m, 10 * PAGE, 0), RECOUNT_EQUAL);
	/* special entries of the page table may look like swapped pages */
	assert_int_equal(recount_mapping(&m, 10 * PAGE, 3 * PAGE), RECOUNT_EQUAL);
	assert_memory_equal(&before.counters, &m.counters, sizeof(before.counters));
}

static void new_pages_are_private_and_dirty(void **state)
{
	struct mapping m = dirty_mapping();
	const uint64_t *bytes = m.counters.bytes;

	(void)state;
	m.counters.bytes[SMAPS_LAZYFREE] = 3 * PAGE;
	m.counters.bytes[SMAPS_PRIVATE_CLEAN] = 3 * PAGE;
	m.counters.bytes[SMAPS_PRIVATE_DIRTY] = 7 * PAGE;
	assert_int_equal(recount_mapping(&m, 15 * PAGE, 0), RECOUNT_CHANGED);
	assert_int_equal(bytes[SMAPS_RSS], 15 * PAGE);
	assert_int_equal(bytes[SMAPS_PSS], 15 * PAGE);
	assert_int_equal(bytes[SMAPS_PSS_DIRTY], 15 * PAGE);
	assert_int_equal(bytes[SMAPS_ANONYMOUS], 15 * PAGE);
	assert_int_equal(bytes[SMAPS_PRIVATE_DIRTY], 12 * PAGE);
	assert_int_equal(bytes[SMAPS_PRIVATE_CLEAN], 3 * PAGE);
	assert_int_equal(bytes[SMAPS_LAZYFREE], 3 * PAGE);
	assert_int_equal(bytes[SMAPS_SIZE], 100 * PAGE);
	assert_int_equal(bytes[SMAPS_LOCKED], 0);
}

static void new_pages_of_locked_memory_are_locked(void **state)
{
	struct mapping m = dirty_mapping();

	(void)state;
	m.flags |= MAPPING_LOCKED;
	m.counters.bytes[SMAPS_LOCKED] = 10 * PAGE;
	assert_int_equal(recount_mapping(&m, 12 * PAGE, 0), RECOUNT_CHANGED);
	assert_int_equal(m.counters.bytes[SMAPS_LOCKED], 12 * PAGE);
	assert_int_equal(recount_mapping(&m, 5 * PAGE, 0), RECOUNT_CHANGED);
	assert_int_equal(m.counters.bytes[SMAPS_LOCKED], 5 * PAGE);
}

static void released_pages_are_subtracted_if_all_pages_are_in_one_state(void **state)
{
	struct mapping m = dirty_mapping();
	const uint64_t *bytes = m.counters.bytes;

	(void)state;
	m.counters.bytes[SMAPS_PSS_DIRTY] = BYTES_UNKNOWN; /* before Linux 6.0 */
	assert_int_equal(recount_mapping(&m, PAGE, 0), RECOUNT_CHANGED);
	assert_int_equal(bytes[SMAPS_RSS], PAGE);
	assert_int_equal(bytes[SMAPS_PSS], PAGE);
	assert_int_equal(bytes[SMAPS_PSS_DIRTY], BYTES_UNKNOWN);
	assert_int_equal(bytes[SMAPS_PRIVATE_DIRTY], PAGE);
	assert_int_equal(bytes[SMAPS_ANONYMOUS], PAGE);
	assert_int_equal(bytes[SMAPS_REFERENCED], PAGE);
	assert_int_equal(bytes[SMAPS_ANON_HUGE], PAGE);
}

static void released_pages_of_unknown_state_are_not_guessed(void **state)
{
	struct mapping m = dirty_mapping();

	(void)state;
	m.counters.bytes[SMAPS_PRIVATE_DIRTY] = 9 * PAGE;
	m.counters.bytes[SMAPS_PRIVATE_CLEAN] = PAGE;
	m.counters.bytes[SMAPS_LAZYFREE] = PAGE;
	check_unknown(&m, 9, 0);
}

static void swapped_and_migrated_pages_are_not_guessed(void **state)
{
	struct mapping m = dirty_mapping();

	(void)state;
	check_unknown(&m, 9, 1);
	m.counters.bytes[SMAPS_SWAP] = 4 * PAGE;
	check_unknown(&m, 11, 3);
	assert_int_equal(recount_mapping(&m, 11 * PAGE, 4 * PAGE), RECOUNT_CHANGED);
	m.counters.bytes[SMAPS_SWAP] = BYTES_UNKNOWN;
	check_unknown(&m, 12, 0);
}

static void only_private_anonymous_memory_is_changed(void **state)
{
	struct mapping file = dirty_mapping(), shared = file, huge = file, empty = file;

	(void)state;
	file.inode = 7;
	check_unknown(&file, 11, 0);
	shared.flags |= MAPPING_SHARED;
	check_unknown(&shared, 11, 0);
	huge.flags |= MAPPING_HUGETLB;
	huge.counters.bytes[SMAPS_PRIVATE_HUGETLB] = 512 * PAGE;
	check_unknown(&huge, 1024, 0);
	assert_int_equal(recount_mapping(&huge, 512 * PAGE, 0), RECOUNT_EQUAL);
	empty.counters.bytes[SMAPS_RSS] = BYTES_UNKNOWN;
	check_unknown(&empty, 11, 0);
	/* only private copies of the pages of a remote file are counted */
	file.flags |= MAPPING_REMOTE;
	file.counters.bytes[SMAPS_ANONYMOUS] = 6 * PAGE;
	assert_int_equal(recount_mapping(&file, 6 * PAGE, 0), RECOUNT_EQUAL);
}

static void the_figures_of_the_process_follow(void **state)
{
	struct mapping_list list = MAPPING_LIST_INIT;
	struct mapping heap = dirty_mapping(), stack = heap, other = heap;
	struct usage u;

	(void)state;
	usage_init(&u);
	u.process.thread_count = 2;
	heap.start_addr = 0x100000;
	heap.end_addr = heap.start_addr + 100 * PAGE;
	stack.start_addr = 0x200000;
	stack.end_addr = stack.start_addr + 100 * PAGE;
	stack.flags |= MAPPING_NO_HUGE; /* perhaps a stack: a thread's pointer decided */
	other = stack;
	other.start_addr = 0x300000;
	other.end_addr = other.start_addr + 100 * PAGE;
	heap.owner = other.owner = OWNER_ANON;
	stack.owner = OWNER_STACK;
	mapping_list_add(&list, &heap);
	mapping_list_add(&list, &stack);
	mapping_list_add(&list, &other);
	assert_int_equal(recount_mapping(&list.items[0], 14 * PAGE, 0), RECOUNT_CHANGED);
	assert_int_equal(recount_mapping(&list.items[1], 11 * PAGE, 0), RECOUNT_CHANGED);
	recount_usage(&u, &list);
	assert_int_equal(u.total.bytes[SMAPS_RSS], 35 * PAGE);
	assert_int_equal(u.matrix.owner_rss_bytes[OWNER_STACK], 11 * PAGE);
	assert_int_equal(u.matrix.cell[OWNER_STACK][STATE_PRIVATE_DIRTY], 11 * PAGE);
	assert_int_equal(u.matrix.owner_rss_bytes[OWNER_ANON], 24 * PAGE);
	assert_int_equal(u.state_bytes[STATE_PRIVATE_DIRTY], 35 * PAGE);
	assert_int_equal(u.mapping_count, 3);
	assert_int_equal(list.items[1].owner, OWNER_STACK);
	assert_int_equal(list.items[2].owner, OWNER_ANON);
	mapping_list_release(&list);
	usage_release(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_equal_count_changes_nothing),
		cmocka_unit_test(new_pages_are_private_and_dirty),
		cmocka_unit_test(new_pages_of_locked_memory_are_locked),
		cmocka_unit_test(
			released_pages_are_subtracted_if_all_pages_are_in_one_state),
		cmocka_unit_test(released_pages_of_unknown_state_are_not_guessed),
		cmocka_unit_test(swapped_and_migrated_pages_are_not_guessed),
		cmocka_unit_test(only_private_anonymous_memory_is_changed),
		cmocka_unit_test(the_figures_of_the_process_follow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
