/* SPDX-License-Identifier: GPL-2.0-or-later */
/* OOM kill counters of the machine, and of a group that vanishes. */
#include "config.h"

#include "sample/oom/flight_counts.h"

#include <stdio.h>

#include "base/units.h"
#include "../../support/made_proc.h"
#include "../../support/unit.h"

static struct flight_counts counts;

static void set_machine(unsigned int kills)
{
	char text[64];

	snprintf(text, sizeof(text), "nr_oom_kill 99\noom_kill %u\nunevictable 7\n",
		 kills);
	tree_write(&made_tree, "vmstat", text);
}

static int set_up(void **state)
{
	counts = (struct flight_counts){ 0 };
	if (made_proc_set_up(state) < 0)
		return -1;
	set_machine(5);
	return 0;
}

static void add_sample(uint64_t own, uint64_t middle, uint64_t owner, uint64_t ns)
{
	struct cgroup_level levels[3] = { { .oom_kill_count = own },
					  { .oom_kill_count = middle },
					  { .oom_kill_count = owner } };
	const struct cgroup cgroup = { .levels = levels,
				       .level_count = 3,
				       .tightest = 2 };

	flight_counts_add(&counts, &cgroup, ns);
}

static void kills_before_the_first_sample_do_not_count(void **state)
{
	(void)state;
	add_sample(3, 0, 1, 10);
	assert_int_equal(counts.unlogged_kills, 0);
	add_sample(3, 8, 1, 20);
	assert_int_equal(counts.unlogged_kills, 0);
	add_sample(4, 8, 2, 30);
	assert_int_equal(counts.unlogged_kills, 2);
	assert_int_equal(counts.unlogged_since_ns, 30);
	add_sample(COUNT_UNKNOWN, 8, COUNT_UNKNOWN, 40);
	assert_int_equal(counts.unlogged_kills, 2);
}

static void the_log_is_behind_until_it_has_reported_each_kill(void **state)
{
	(void)state;
	flight_counts_begin(&counts, &made_fs);
	assert_false(flight_counts_is_log_behind(&counts, &made_fs));
	set_machine(7);
	counts.reported_kills = 1;
	assert_true(flight_counts_is_log_behind(&counts, &made_fs));
	assert_true(flight_counts_are_open(&counts, &made_fs, true, 100));
	counts.reported_kills = 2;
	assert_false(flight_counts_is_log_behind(&counts, &made_fs));
	assert_false(flight_counts_are_open(&counts, &made_fs, true, 100));
}

static void a_report_without_a_cgroup_keeps_the_last_sample_open(void **state)
{
	(void)state;
	flight_counts_begin(&counts, &made_fs);
	counts.pathless_ns = 50;
	assert_true(flight_counts_are_open(&counts, &made_fs, true, 49));
	assert_false(flight_counts_are_open(&counts, &made_fs, true, 50));
}

static void without_a_log_the_machine_wide_counter_decides(void **state)
{
	(void)state;
	flight_counts_begin(&counts, &made_fs);
	set_machine(6);
	assert_true(flight_counts_are_open(&counts, &made_fs, false, 0));
	flight_counts_read_machine(&counts, &made_fs);
	assert_false(flight_counts_are_open(&counts, &made_fs, false, 0));
}

static void an_older_kernel_has_no_counter(void **state)
{
	(void)state;
	tree_write(&made_tree, "vmstat", "pgfault 1\n");
	flight_counts_begin(&counts, &made_fs);
	assert_true(counts.machine_first == COUNT_UNKNOWN);
	assert_false(flight_counts_is_log_behind(&counts, &made_fs));
	assert_false(flight_counts_are_open(&counts, &made_fs, false, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			kills_before_the_first_sample_do_not_count, set_up,
			made_proc_tear_down),
		cmocka_unit_test_setup_teardown(
			the_log_is_behind_until_it_has_reported_each_kill, set_up,
			made_proc_tear_down),
		cmocka_unit_test_setup_teardown(
			a_report_without_a_cgroup_keeps_the_last_sample_open, set_up,
			made_proc_tear_down),
		cmocka_unit_test_setup_teardown(
			without_a_log_the_machine_wide_counter_decides, set_up,
			made_proc_tear_down),
		cmocka_unit_test_setup_teardown(an_older_kernel_has_no_counter, set_up,
						made_proc_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
