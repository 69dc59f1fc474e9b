/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/compare/moment_diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/xalloc.h"
#include "../../support/unit.h"

static struct moment before, after;

static int begin(void **state)
{
	(void)state;
	moment_init(&before);
	moment_init(&after);
	return 0;
}

static int end(void **state)
{
	(void)state;
	moment_release(&before);
	moment_release(&after);
	return 0;
}

/* Add a process whose mappings were read, but that has none. Return its index. */
static size_t add_process(struct moment *m, int pid, uint64_t start, const char *comm,
			  uint64_t rss)
{
	struct usage *u = snapshot_add(&m->processes);
	size_t i = m->processes.count - 1;

	u->process.pid = pid;
	u->process.start_ticks = start;
	snprintf(u->process.comm, sizeof(u->process.comm), "%s", comm);
	counters_set_zero(&u->total);
	u->total.bytes[SMAPS_RSS] = rss;
	m->mappings = xrealloc(m->mappings, (i + 1) * sizeof(*m->mappings));
	memset(&m->mappings[i], 0, sizeof(m->mappings[i]));
	m->mappings[i].read_unix_ms = 1;
	for (int o = 0; o < OWNER_COUNT_; o++)
		m->mappings[i].owner_bytes[o] = o <= OWNER_HEAP_LAST ? BYTES_UNKNOWN : 0;
	return i;
}

static void add_mapping(struct moment *m, size_t process, uint64_t start,
			uint64_t end_addr, const char *name, uint64_t rss)
{
	struct mapping mapping = { .start_addr = start,
				   .end_addr = end_addr,
				   .owner = OWNER_ANON,
				   .name = name,
				   .name_length = (uint32_t)strlen(name) };

	counters_set_zero(&mapping.counters);
	mapping.counters.bytes[SMAPS_RSS] = rss;
	mapping_list_add(&m->mappings[process].list, &mapping);
}

static size_t count_part(const struct moment_diff *diff, enum moment_part part)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->count; i++)
		count += diff->items[i].part == part;
	return count;
}

/* Return the n-th row of a part. */
static const struct moment_change *row(const struct moment_diff *diff,
				       enum moment_part part, size_t n)
{
	for (size_t i = 0; i < diff->count; i++)
		if (diff->items[i].part == part && n-- == 0)
			return &diff->items[i];
	fail_msg("no such row");
	return NULL;
}

static const struct moment_change *named(const struct moment_diff *diff,
					 enum moment_part part, const char *name)
{
	for (size_t i = 0; i < diff->count; i++)
		if (diff->items[i].part == part && strcmp(diff->items[i].name, name) == 0)
			return &diff->items[i];
	fail_msg("no row %s", name);
	return NULL;
}

static void processes_match_by_pid_and_start_then_command_then_name(void **state)
{
	struct moment_diff diff;

	(void)state;
	add_process(&before, 10, 1, "same", 100);
	add_process(&before, 11, 1, "worker", 200);
	add_process(&before, 12, 1, "worker", 300);
	add_process(&before, 13, 1, "ended", 50);
	before.processes.usages[1].command = xstrdup("worker --a");
	before.processes.usages[2].command = xstrdup("worker --b");
	add_process(&after, 21, 2, "worker", 390);
	add_process(&after, 22, 2, "worker", 210);
	add_process(&after, 10, 1, "renamed", 101);
	add_process(&after, 23, 2, "begun", 7);
	after.processes.usages[0].command = xstrdup("worker --b");
	after.processes.usages[1].command = xstrdup("worker --c");
	moment_diff_make(&before, &after, &diff);
	assert_int_equal(count_part(&diff, PART_PROCESS), 5);
	assert_int_equal(row(&diff, PART_PROCESS, 0)->before_process->pid, 12);
	assert_int_equal(row(&diff, PART_PROCESS, 0)->after_process->pid, 21);
	assert_int_equal(moment_change_bytes(row(&diff, PART_PROCESS, 0)), 90);
	assert_null(named(&diff, PART_PROCESS, "ended")->after_process);
	assert_int_equal(moment_change_bytes(named(&diff, PART_PROCESS, "ended")), -50);
	assert_int_equal(named(&diff, PART_PROCESS, "worker")->before_process->pid, 12);
	assert_int_equal(row(&diff, PART_PROCESS, 2)->before_process->pid, 11);
	assert_int_equal(row(&diff, PART_PROCESS, 2)->after_process->pid, 22);
	assert_null(named(&diff, PART_PROCESS, "begun")->before_process);
	assert_int_equal(named(&diff, PART_PROCESS, "renamed")->before_process->pid, 10);
	assert_int_equal(named(&diff, PART_TOTAL, "rss")->before, 650);
	assert_int_equal(named(&diff, PART_TOTAL, "rss")->after, 708);
	moment_diff_release(&diff);
}

static void unnamed_mappings_of_a_process_match_if_they_overlap(void **state)
{
	struct moment_diff diff;
	size_t b = add_process(&before, 1, 1, "p", 0),
	       a = add_process(&after, 1, 1, "p", 0);

	(void)state;
	add_mapping(&before, b, 0x1000, 0x3000, "", 100);
	/* another mapping right next to it */
	add_mapping(&before, b, 0x3000, 0x4000, "", 10);
	add_mapping(&before, b, 0x8000, 0x9000, "", 5);
	/* it has grown downwards, and was split */
	add_mapping(&after, a, 0x0000, 0x2000, "", 300);
	add_mapping(&after, a, 0x2000, 0x3000, "", 60);
	add_mapping(&after, a, 0x3000, 0x4000, "", 10);
	moment_diff_make(&before, &after, &diff);
	assert_int_equal(count_part(&diff, PART_MAPPING), 2);
	assert_int_equal(row(&diff, PART_MAPPING, 0)->before, 100);
	assert_int_equal(row(&diff, PART_MAPPING, 0)->after, 360);
	assert_int_equal(row(&diff, PART_MAPPING, 1)->before, 5);
	assert_int_equal(row(&diff, PART_MAPPING, 1)->after, 0);
	assert_int_equal(row(&diff, PART_MAPPING, 1)->start_addr, 0x8000);
	moment_diff_release(&diff);
}

static void unnamed_mappings_of_another_process_are_one_row(void **state)
{
	struct moment_diff diff;
	size_t b = add_process(&before, 1, 1, "p", 0),
	       a = add_process(&after, 2, 2, "p", 0);

	(void)state;
	add_mapping(&before, b, 0x1000, 0x3000, "", 100);
	add_mapping(&before, b, 0x8000, 0x9000, "", 5);
	add_mapping(&after, a, 0x1000, 0x2000, "", 300);
	add_mapping(&before, b, 0xa000, 0xb000, "/lib/x", 30);
	add_mapping(&before, b, 0xb000, 0xc000, "/lib/x", 10);
	add_mapping(&after, a, 0xf000, 0xffff, "/lib/x", 41);
	moment_diff_make(&before, &after, &diff);
	assert_int_equal(count_part(&diff, PART_MAPPING), 2);
	assert_string_equal(row(&diff, PART_MAPPING, 0)->name, "[anonymous]");
	assert_int_equal(moment_change_bytes(row(&diff, PART_MAPPING, 0)), 195);
	assert_string_equal(row(&diff, PART_MAPPING, 1)->name, "/lib/x");
	assert_int_equal(row(&diff, PART_MAPPING, 1)->before, 40);
	assert_int_equal(row(&diff, PART_MAPPING, 1)->start_addr, 0);
	moment_diff_release(&diff);
}

static void a_heap_that_was_read_only_once_counts_as_anon_in_both(void **state)
{
	struct moment_diff diff;
	size_t b = add_process(&before, 1, 1, "p", 0),
	       a = add_process(&after, 1, 1, "p", 0);

	(void)state;
	before.mappings[b].owner_bytes[OWNER_ANON] = 100;
	after.mappings[a].owner_bytes[OWNER_ANON] = 10;
	for (int o = OWNER_HEAP_FIRST; o <= OWNER_HEAP_LAST; o++)
		after.mappings[a].owner_bytes[o] = 30;
	moment_diff_make(&before, &after, &diff);
	assert_int_equal(named(&diff, PART_OWNER, "anon")->before, 100);
	assert_int_equal(named(&diff, PART_OWNER, "anon")->after, 130);
	assert_true(named(&diff, PART_OWNER, "live")->after == BYTES_UNKNOWN);
	moment_diff_release(&diff);
	for (int o = OWNER_HEAP_FIRST; o <= OWNER_HEAP_LAST; o++)
		before.mappings[b].owner_bytes[o] = 5;
	moment_diff_make(&before, &after, &diff);
	assert_int_equal(moment_change_bytes(named(&diff, PART_OWNER, "live")), 25);
	assert_int_equal(moment_change_bytes(named(&diff, PART_OWNER, "anon")), -90);
	moment_diff_release(&diff);
}

static void add_heap(struct moment *m, size_t process, enum allocator allocator,
		     uint64_t live, uint64_t pool_pages)
{
	struct moment_mappings *mappings = &m->mappings[process];
	struct usage_heap *heap = &mappings->heaps[mappings->heap_count++];

	*heap = (struct usage_heap){ .allocator = allocator, .quality = QUALITY_EXACT };
	heap->owner_bytes[OWNER_LIVE] = live;
	heap->owner_bytes[OWNER_POOL_PAGES] = pool_pages;
}

static void assert_heap_row(const struct moment_diff *diff, size_t n, const char *name,
			    enum owner owner, uint64_t before_bytes, uint64_t after_bytes)
{
	const struct moment_change *change = row(diff, PART_HEAP, n);

	assert_string_equal(change->name, name);
	assert_int_equal(change->owner, owner);
	assert_int_equal(change->before, before_bytes);
	assert_int_equal(change->after, after_bytes);
}

static void heaps_are_compared_by_allocator_and_owner(void **state)
{
	struct moment_diff diff;
	size_t b = add_process(&before, 1, 1, "p", 0),
	       a = add_process(&after, 1, 1, "p", 0);

	(void)state;
	add_heap(&before, b, ALLOCATOR_GLIBC, 100, 50);
	add_heap(&before, b, ALLOCATOR_PYTHON, 70, 0);
	add_heap(&after, a, ALLOCATOR_PYTHON, 270, 7);
	add_heap(&after, a, ALLOCATOR_GLIBC, 90, 53);
	add_heap(&after, a, ALLOCATOR_GO, 5, 0);
	moment_diff_make(&before, &after, &diff);
	assert_int_equal(count_part(&diff, PART_HEAP), 3 * (OWNER_HEAP_LAST + 1));
	assert_heap_row(&diff, 0, "python", OWNER_LIVE, 70, 270);
	assert_heap_row(&diff, 1, "glibc", OWNER_LIVE, 100, 90);
	assert_heap_row(&diff, 2, "python", OWNER_POOL_PAGES, 0, 7);
	assert_heap_row(&diff, 3, "go", OWNER_LIVE, 0, 5);
	assert_heap_row(&diff, 4, "glibc", OWNER_POOL_PAGES, 50, 53);
	moment_diff_release(&diff);
}

static void heaps_that_were_read_only_once_are_not_compared(void **state)
{
	struct moment_diff diff;
	size_t a;

	(void)state;
	add_process(&before, 1, 1, "p", 0);
	a = add_process(&after, 1, 1, "p", 0);
	add_heap(&after, a, ALLOCATOR_GLIBC, 90, 53);
	/* a new process, whose heap has grown from 0 */
	a = add_process(&after, 2, 2, "new", 0);
	add_heap(&after, a, ALLOCATOR_MUSL, 11, 0);
	moment_diff_make(&before, &after, &diff);
	assert_int_equal(count_part(&diff, PART_HEAP), OWNER_HEAP_LAST + 1);
	assert_heap_row(&diff, 0, "musl", OWNER_LIVE, 0, 11);
	assert_null(row(&diff, PART_HEAP, 0)->before_process);
	moment_diff_release(&diff);
}

static void unread_mappings_did_not_grow(void **state)
{
	struct moment_diff diff;
	size_t b = add_process(&before, 1, 1, "p", 5),
	       a = add_process(&after, 1, 1, "p", 6);

	(void)state;
	before.mappings[b].read_unix_ms = 0;
	add_mapping(&after, a, 0x1000, 0x2000, "/lib/x", 300);
	after.mappings[a].owner_bytes[OWNER_FILE] = 300;
	moment_diff_make(&before, &after, &diff);
	assert_int_equal(count_part(&diff, PART_MAPPING), 0);
	assert_true(named(&diff, PART_OWNER, "file")->after == BYTES_UNKNOWN);
	assert_int_equal(moment_change_bytes(named(&diff, PART_PROCESS, "p")), 1);
	moment_diff_release(&diff);
}

static void groups_are_compared_if_both_moments_have_one(void **state)
{
	struct moment_diff diff;

	(void)state;
	before.group.need_bytes = 7;
	after.group.need_bytes = 9;
	after.group.limit_bytes = CGROUP_NO_LIMIT;
	before.has_group = true;
	moment_diff_make(&before, &after, &diff);
	assert_int_equal(count_part(&diff, PART_GROUP), 0);
	moment_diff_release(&diff);
	after.has_group = true;
	moment_diff_make(&before, &after, &diff);
	assert_int_equal(moment_change_bytes(named(&diff, PART_GROUP, "need")), 2);
	assert_true(named(&diff, PART_GROUP, "limit")->after == BYTES_UNKNOWN);
	moment_diff_release(&diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			processes_match_by_pid_and_start_then_command_then_name, begin,
			end),
		cmocka_unit_test_setup_teardown(
			unnamed_mappings_of_a_process_match_if_they_overlap, begin, end),
		cmocka_unit_test_setup_teardown(
			unnamed_mappings_of_another_process_are_one_row, begin, end),
		cmocka_unit_test_setup_teardown(
			a_heap_that_was_read_only_once_counts_as_anon_in_both, begin,
			end),
		cmocka_unit_test_setup_teardown(unread_mappings_did_not_grow, begin, end),
		cmocka_unit_test_setup_teardown(heaps_are_compared_by_allocator_and_owner,
						begin, end),
		cmocka_unit_test_setup_teardown(
			heaps_that_were_read_only_once_are_not_compared, begin, end),
		cmocka_unit_test_setup_teardown(
			groups_are_compared_if_both_moments_have_one, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
