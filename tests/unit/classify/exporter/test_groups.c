/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/exporter/groups.h"

#include <stdio.h>
#include <string.h>

#include "../../support/unit.h"

static struct named_groups groups;

/* Add a process with this Rss to the group, as private dirty memory. */
static void add(const char *group, uint64_t rss_bytes)
{
	struct group_name name = { .group = NULL };
	struct usage u;

	usage_init(&u);
	u.source = SOURCE_ROLLUP;
	u.process.start_ticks = 1;
	u.total.bytes[SMAPS_RSS] = rss_bytes;
	u.state_bytes[STATE_PRIVATE_DIRTY] = rss_bytes;
	group_name_set_word(&name, group);
	named_groups_add(&groups, &name, &u);
	group_name_release(&name);
	usage_release(&u);
}

static void add_failed(const char *group, int error)
{
	struct group_name name = { .group = NULL };
	struct usage u;

	usage_init(&u);
	u.source = error ? SOURCE_NONE : SOURCE_STAT;
	u.error = error;
	u.process.start_ticks = 1;
	group_name_set_word(&name, group);
	named_groups_add(&groups, &name, &u);
	group_name_release(&name);
	usage_release(&u);
}

static bool is_shown(const char *name)
{
	const struct group *group = named_groups_find(&groups, name);

	return group && group->is_shown;
}

/* Take a look at ten groups g0 (the largest) to g9, of which one has another size. */
static void look(int changed, uint64_t bytes, uint64_t now_ns)
{
	named_groups_begin(&groups);
	for (int i = 0; i < 10; i++) {
		char name[8];

		snprintf(name, sizeof(name), "g%d", i);
		add(name, i == changed ? bytes : 1000 - (uint64_t)i);
	}
	named_groups_end(&groups, 3, 6, now_ns);
}

static int begin(void **state)
{
	(void)state;
	groups = (struct named_groups)NAMED_GROUPS_INIT;
	return 0;
}

static int end(void **state)
{
	(void)state;
	named_groups_release(&groups);
	return 0;
}

static void the_first_look_shows_the_largest_and_the_sum_is_whole(void **state)
{
	(void)state;
	look(-1, 0, NS_PER_S);
	assert_true(is_shown("g0") && is_shown("g2"));
	assert_false(is_shown("g3"));
	assert_int_equal(groups.rest.process_count, 7);
	assert_int_equal(named_groups_total(&groups).rss_bytes, 10 * 1000 - 45);
	assert_int_equal(named_groups_total(&groups).process_count, 10);
}

static void a_group_is_shown_after_three_looks_among_the_largest(void **state)
{
	(void)state;
	look(-1, 0, 1 * NS_PER_S);
	look(9, 5000, 2 * NS_PER_S);
	look(9, 5000, 3 * NS_PER_S);
	assert_false(is_shown("g9"));
	look(-1, 0, 4 * NS_PER_S);
	look(9, 5000, 5 * NS_PER_S);
	look(9, 5000, 6 * NS_PER_S);
	assert_false(is_shown("g9"));
	look(9, 5000, 7 * NS_PER_S);
	assert_true(is_shown("g9"));
	/* g2 is no longer among three, but among six */
	assert_true(is_shown("g2"));
}

static void a_group_is_shown_until_it_was_small_for_ten_minutes(void **state)
{
	(void)state;
	look(-1, 0, 1 * NS_PER_S);
	look(0, 1, 2 * NS_PER_S);
	assert_true(is_shown("g0"));
	look(0, 1, 601 * NS_PER_S);
	assert_true(is_shown("g0"));
	look(0, 1, 602 * NS_PER_S);
	assert_false(is_shown("g0"));
	assert_int_equal(named_groups_total(&groups).process_count, 10);
}

static void never_more_are_shown_than_allowed(void **state)
{
	size_t shown = 0;

	(void)state;
	for (uint64_t n = 0; n < 60; n++)
		look((int)(n / 4 % 10), 5000, (n + 1) * NS_PER_S);
	for (size_t i = 0; i < groups.count; i++)
		shown += groups.items[i]->is_shown;
	assert_int_equal(shown, 6);
	assert_int_equal(named_groups_total(&groups).process_count, 10);
}

static void groups_go_with_their_processes(void **state)
{
	(void)state;
	look(-1, 0, NS_PER_S);
	named_groups_begin(&groups);
	add("g1", 5);
	named_groups_end(&groups, 3, 6, 2 * NS_PER_S);
	assert_null(named_groups_find(&groups, "g0"));
	assert_int_equal(named_groups_total(&groups).rss_bytes, 5);
}

static void unreadable_and_unread_processes_are_counted_apart(void **state)
{
	const struct group *group;

	(void)state;
	named_groups_begin(&groups);
	add("a", 7);
	add_failed("a", -13);
	add_failed("a", 0);
	named_groups_end(&groups, 3, 6, NS_PER_S);
	group = named_groups_find(&groups, "a");
	assert_int_equal(group->sums.process_count, 1);
	assert_int_equal(group->sums.unreadable_count, 1);
	assert_int_equal(group->sums.late_count, 1);
	assert_int_equal(group->sums.rss_bytes, 7);
}

static void a_process_named_like_the_rest_is_in_the_rest(void **state)
{
	(void)state;
	named_groups_begin(&groups);
	add("(rest)", 7);
	named_groups_end(&groups, 3, 6, NS_PER_S);
	assert_int_equal(groups.count, 0);
	assert_int_equal(groups.rest.rss_bytes, 7);
}

/* Add owners to the process: anonymous memory and stacks. */
static void add_owners(const char *group, uint64_t anon_bytes, uint64_t stack_bytes,
		       uint64_t taken_ns)
{
	struct owner_figures owners = { .taken_ns = taken_ns, .unbacked_bytes = 5 };

	owners.bytes[OWNER_ANON] = anon_bytes;
	owners.bytes[OWNER_STACK] = stack_bytes;
	named_groups_add_owners(&groups, group ? named_groups_find(&groups, group) : NULL,
				&owners);
}

static void owners_and_the_unknown_rest_add_up(void **state)
{
	const struct group *group;

	(void)state;
	named_groups_begin(&groups);
	add("a", 100);
	add("a", 50);
	add("b", 30);
	add("c", 20);
	add("d", 10);
	add("(rest)", 7);
	named_groups_end(&groups, 3, 3, 9 * NS_PER_S);
	/* the first process has grown by 5 since, the third shrunk by 4 */
	add_owners("a", 80, 15, 2 * NS_PER_S);
	add_owners("b", 34, 0, 3 * NS_PER_S);
	group = named_groups_find(&groups, "a");
	assert_int_equal(group->sums.owner_bytes[OWNER_ANON], 80);
	assert_int_equal(group->sums.owners_count, 1);
	assert_int_equal(group->sums.unbacked_bytes, 5);
	assert_int_equal(group_sums_unknown_bytes(&group->sums), 55);
	group = named_groups_find(&groups, "b");
	assert_int_equal(group_sums_unknown_bytes(&group->sums), -4);
	/* a group that is not shown is in the rest */
	add_owners("d", 9, 0, 4 * NS_PER_S);
	add_owners(NULL, 7, 0, 4 * NS_PER_S);
	assert_false(is_shown("d"));
	assert_int_equal(groups.rest.owners_count, 2);
	assert_int_equal(group_sums_unknown_bytes(&groups.rest), 1);
	/* the next look begins without owners */
	named_groups_begin(&groups);
	add("a", 100);
	assert_int_equal(named_groups_find(&groups, "a")->sums.owners_count, 0);
}

static void old_owners_make_a_group_old(void **state)
{
	(void)state;
	named_groups_begin(&groups);
	add("a", 100);
	named_groups_find(&groups, "a")->sums.oldest_taken_ns = 8 * NS_PER_S;
	named_groups_end(&groups, 3, 3, 9 * NS_PER_S);
	add_owners("a", 100, 0, 2 * NS_PER_S);
	assert_int_equal(named_groups_find(&groups, "a")->sums.oldest_taken_ns,
			 2 * NS_PER_S);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(the_first_look_shows_the_largest_and_the_sum_is_whole),
		TEST(a_group_is_shown_after_three_looks_among_the_largest),
		TEST(a_group_is_shown_until_it_was_small_for_ten_minutes),
		TEST(never_more_are_shown_than_allowed),
		TEST(groups_go_with_their_processes),
		TEST(unreadable_and_unread_processes_are_counted_apart),
		TEST(a_process_named_like_the_rest_is_in_the_rest),
		TEST(owners_and_the_unknown_rest_add_up),
		TEST(old_owners_make_a_group_old),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
