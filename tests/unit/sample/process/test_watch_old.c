/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A watch reads old figures again, within a limit on CPU time. The time for listing the
 * processes does not count.
 */
#include "config.h"

#include "base/clock.h"
#include "sample/process/watch.h"
#include "../../support/made_proc.h"
#include "../../support/unit.h"

#define COUNT 30
/* Processes that each refresh reads in turn, regardless of the age of their figures. */
#define TURN 8
#define HOUR_NS (3600 * NS_PER_S)

static struct sampler *sampler;
static struct targets targets;
static struct watch *watch;

static size_t refresh(void)
{
	size_t read_count, total;

	assert_int_equal(watch_refresh(watch, NEED_ROLLUP, NULL, 0), 0);
	watch_counts(watch, &read_count, &total);
	assert_int_equal(total, COUNT);
	return read_count;
}

static int begin(void **state)
{
	int r = made_proc_set_up(state);

	for (int pid = 1; pid <= COUNT; pid++)
		made_proc_write_process(pid, "prog", 0);
	sampler = sampler_new(&made_fs, false);
	targets = (struct targets){ 0 };
	watch = watch_new(sampler, &targets, 0);
	watch_set_refresh_limit(watch, UINT64_MAX);
	assert_int_equal(refresh(), COUNT);
	return r;
}

static int end(void **state)
{
	watch_free(watch);
	sampler_free(sampler);
	return made_proc_tear_down(state);
}

static void all_old_figures_are_read_if_there_is_time(void **state)
{
	(void)state;
	watch_set_old_limits(watch, 0, UINT64_MAX);
	assert_int_equal(refresh(), COUNT);
	assert_true(watch_old_cpu_ns(watch) > 0);
}

static void figures_that_are_not_old_wait_for_their_turn(void **state)
{
	(void)state;
	watch_set_old_limits(watch, HOUR_NS, UINT64_MAX);
	assert_int_equal(refresh(), TURN);
	assert_int_equal(watch_old_cpu_ns(watch), 0);
	assert_int_equal(refresh(), TURN);
}

static void without_cpu_time_old_figures_wait_for_their_turn(void **state)
{
	(void)state;
	assert_int_equal(refresh(), TURN);
	watch_set_old_limits(watch, 0, 0);
	assert_int_equal(refresh(), TURN);
	assert_int_equal(watch_old_cpu_ns(watch), 0);
}

/* One read exceeds a nanosecond. The next refresh continues with other processes. */
static void the_limit_ends_reading_and_no_process_starves(void **state)
{
	uint64_t begin_ns = clock_now_ns();
	size_t refreshes = 0;
	bool has_old = true;

	(void)state;
	watch_set_old_limits(watch, 0, 1);
	while (has_old && refreshes < COUNT) {
		const struct snapshot *s;

		assert_int_equal(refresh(), TURN + 1);
		refreshes++;
		s = watch_snapshot(watch);
		has_old = false;
		for (size_t i = 0; i < s->count; i++)
			has_old |= s->usages[i].taken_ns < begin_ns;
	}
	assert_false(has_old);
}

/* Return the time of the fastest of some refreshes that list, but read few processes. */
static uint64_t find_list_time(void)
{
	uint64_t fastest_ns = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t begin_ns = clock_now_ns(), ns;

		(void)refresh();
		ns = clock_now_ns() - begin_ns;
		fastest_ns = ns < fastest_ns ? ns : fastest_ns;
	}
	return fastest_ns;
}

/*
 * The limit is a quarter of the time for a list, so no second process would be read in
 * turn if the list counted.
 */
static void a_slow_list_leaves_time_for_reading(void **state)
{
	size_t most = 0;

	(void)state;
	watch_set_refresh_limit(watch, 0);
	assert_int_equal(refresh(), 1);
	watch_set_refresh_limit(watch, find_list_time() / 4);
	for (int i = 0; i < 1000 && most <= 1; i++) {
		size_t count = refresh();

		most = count > most ? count : most;
	}
	assert_true(most > 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(all_old_figures_are_read_if_there_is_time),
		TEST(figures_that_are_not_old_wait_for_their_turn),
		TEST(without_cpu_time_old_figures_wait_for_their_turn),
		TEST(the_limit_ends_reading_and_no_process_starves),
		TEST(a_slow_list_leaves_time_for_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
