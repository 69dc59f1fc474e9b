/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/exporter/cgroups.h"

#include <string.h>

#include "../../support/unit.h"

static struct named_cgroups cgroups;

static const struct oom_figures figures = {
	.usage_bytes = 80,
	.need_bytes = 50,
	.limit_bytes = 100,
};

static void add(const char *group, uint64_t kills, uint64_t now_ns)
{
	const struct cgroup_counts increase = { { kills, 0, COUNT_UNKNOWN, 0 } };
	struct group_name name = { .group = NULL };

	group_name_set_word(&name, group);
	named_cgroups_add(&cgroups, &name, &figures, &increase, now_ns);
	group_name_release(&name);
}

static void look(const char *group, uint64_t kills, uint64_t now_ns)
{
	named_cgroups_begin(&cgroups);
	if (group)
		add(group, kills, now_ns);
	named_cgroups_end(&cgroups, now_ns);
}

static void log_kill(const char *group, uint64_t now_ns)
{
	struct group_name name = { .group = NULL };

	group_name_set_word(&name, group);
	named_cgroups_add_kill(&cgroups, &name, OOM_WHY_LEAK, 1000, now_ns);
	group_name_release(&name);
}

static uint64_t count(const char *group, enum cgroup_count which)
{
	return named_cgroups_find(&cgroups, group)->counts.values[which];
}

static int begin(void **state)
{
	(void)state;
	cgroups = (struct named_cgroups)NAMED_CGROUPS_INIT;
	return 0;
}

static int end(void **state)
{
	(void)state;
	named_cgroups_release(&cgroups);
	return 0;
}

static void a_count_is_shown_as_0_before_its_first_increase(void **state)
{
	(void)state;
	look("a", 3, 1 * NS_PER_S);
	assert_int_equal(count("a", CGROUP_COUNT_KILLS), 0);
	look("a", 0, 2 * NS_PER_S);
	assert_int_equal(count("a", CGROUP_COUNT_KILLS), 3);
	look("a", 1, 3 * NS_PER_S);
	assert_int_equal(count("a", CGROUP_COUNT_KILLS), 4);
	assert_true(count("a", CGROUP_COUNT_WAITING_NS) == COUNT_UNKNOWN);
}

static void counts_outlive_the_cgroup_by_an_hour(void **state)
{
	(void)state;
	look("a", 0, 1 * NS_PER_S);
	look("a", 2, 2 * NS_PER_S);
	look(NULL, 0, 3601 * NS_PER_S);
	assert_int_equal(count("a", CGROUP_COUNT_KILLS), 2);
	assert_false(named_cgroups_find(&cgroups, "a")->has_figures);
	look(NULL, 0, 3602 * NS_PER_S);
	assert_null(named_cgroups_find(&cgroups, "a"));
}

static void a_cgroup_that_returns_continues_to_count(void **state)
{
	(void)state;
	look("a", 0, 1 * NS_PER_S);
	look("a", 2, 2 * NS_PER_S);
	look(NULL, 0, 3 * NS_PER_S);
	look("a", 1, 4 * NS_PER_S);
	assert_int_equal(count("a", CGROUP_COUNT_KILLS), 3);
}

static void a_kill_is_counted_once_by_the_log_and_the_cgroup(void **state)
{
	(void)state;
	look("a", 0, 1 * NS_PER_S);
	log_kill("a", 2 * NS_PER_S);
	look("a", 1, 3 * NS_PER_S);
	assert_int_equal(count("a", CGROUP_COUNT_KILLS), 1);
	/* removed before its count was read */
	log_kill("a", 4 * NS_PER_S);
	look(NULL, 0, 5 * NS_PER_S);
	assert_int_equal(count("a", CGROUP_COUNT_KILLS), 2);
}

static void a_kill_of_an_unknown_cgroup_begins_at_0(void **state)
{
	(void)state;
	log_kill("a", 1 * NS_PER_S);
	look(NULL, 0, 2 * NS_PER_S);
	assert_int_equal(count("a", CGROUP_COUNT_KILLS), 0);
	look(NULL, 0, 3 * NS_PER_S);
	assert_int_equal(count("a", CGROUP_COUNT_KILLS), 1);
	assert_int_equal(named_cgroups_find(&cgroups, "a")->last_verdict, OOM_WHY_LEAK);
}

/* In version 1, no file of a cgroup counts the kills in its descendants. */
static void a_kill_that_no_file_of_a_new_cgroup_counts_begins_at_0(void **state)
{
	(void)state;
	log_kill("a", 1 * NS_PER_S);
	look("a", 0, 2 * NS_PER_S);
	assert_int_equal(count("a", CGROUP_COUNT_KILLS), 0);
	look("a", 0, 3 * NS_PER_S);
	assert_int_equal(count("a", CGROUP_COUNT_KILLS), 1);
	look("a", 0, 4 * NS_PER_S);
	assert_int_equal(count("a", CGROUP_COUNT_KILLS), 1);
}

static void the_cgroup_nearest_its_limit_is_shown_and_counts_are_added(void **state)
{
	struct group_name name = { .group = NULL };
	const struct cgroup_counts one = { { 1, 1, 1, 1 } };
	struct oom_figures near = figures, none = figures;

	(void)state;
	group_name_set_word(&name, "a");
	near.need_bytes = 99;
	none.limit_bytes = CGROUP_NO_LIMIT;
	for (int i = 0; i < 2; i++) {
		named_cgroups_begin(&cgroups);
		named_cgroups_add(&cgroups, &name, &none, &one, 1);
		named_cgroups_add(&cgroups, &name, &near, &one, 1);
		named_cgroups_add(&cgroups, &name, &figures, &one, 1);
		named_cgroups_end(&cgroups, 1);
	}
	assert_int_equal(named_cgroups_find(&cgroups, "a")->figures.need_bytes, 99);
	assert_int_equal(count("a", CGROUP_COUNT_KILLS), 6);
	group_name_release(&name);
}

static void counts_that_fall_have_begun_again(void **state)
{
	const struct cgroup_counts before = { { 5, 5, 5, COUNT_UNKNOWN } };
	const struct cgroup_counts now = { { 7, 2, COUNT_UNKNOWN, 3 } };
	const struct cgroup_counts want = { { 2, 2, COUNT_UNKNOWN, 3 } };
	const struct cgroup_counts got = cgroup_counts_sub(&now, &before);

	(void)state;
	assert_memory_equal(&got, &want, sizeof(want));
}

static void growth_is_found_and_reaches_the_limit(void **state)
{
	struct oom_figures f = figures;
	const struct cgroup_counts zero = { { 0 } };
	struct group_name name = { .group = NULL };
	const struct named_cgroup *c;

	(void)state;
	group_name_set_word(&name, "a");
	f.limit_bytes = 1000 * MIB;
	for (uint64_t n = 1; n <= 400; n++) {
		f.need_bytes = 100 * MIB + n * MIB;
		named_cgroups_begin(&cgroups);
		named_cgroups_add(&cgroups, &name, &f, &zero, n * 10 * NS_PER_S);
		named_cgroups_end(&cgroups, n * 10 * NS_PER_S);
	}
	c = named_cgroups_find(&cgroups, "a");
	assert_int_equal(c->growth.kind, GROWTH_STEADY);
	assert_true(c->has_time);
	/* 500 MiB are left, at 1 MiB in 10 s */
	assert_in_range(c->time.ns / NS_PER_S, 4500, 5600);
	group_name_release(&name);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(a_count_is_shown_as_0_before_its_first_increase),
		TEST(counts_outlive_the_cgroup_by_an_hour),
		TEST(a_cgroup_that_returns_continues_to_count),
		TEST(a_kill_is_counted_once_by_the_log_and_the_cgroup),
		TEST(a_kill_of_an_unknown_cgroup_begins_at_0),
		TEST(a_kill_that_no_file_of_a_new_cgroup_counts_begins_at_0),
		TEST(the_cgroup_nearest_its_limit_is_shown_and_counts_are_added),
		TEST(counts_that_fall_have_begun_again),
		TEST(growth_is_found_and_reaches_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
