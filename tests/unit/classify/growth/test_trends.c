/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of a made-up group, one per second: growth, restarts, and bounded memory use.
 */
#include "config.h"

#include "classify/growth/trends.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "classify/growth/series.h"
#include "../../support/unit.h"

#define SAMPLES 120

static struct trends *trends;
static struct snapshot processes;
static struct cgroup cgroup;
static struct cgroup_level level;
static uint64_t second;

static int begin(void **state)
{
	(void)state;
	trends = trends_new();
	snapshot_init(&processes);
	cgroup_init(&cgroup);
	level = (struct cgroup_level){ .path = (char *)(uintptr_t) "/a" };
	cgroup.levels = &level;
	cgroup.level_count = 1;
	second = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	trends_free(trends);
	snapshot_release(&processes);
	return 0;
}

static void add_process(int pid, uint64_t start_ticks, uint64_t need_mib,
			uint64_t live_mib)
{
	struct usage *u = snapshot_add(&processes);

	u->process.pid = pid;
	u->process.start_ticks = start_ticks;
	u->source = SOURCE_SMAPS;
	u->total.bytes[SMAPS_ANONYMOUS] = need_mib * MIB;
	u->total.bytes[SMAPS_PRIVATE_CLEAN] = 0;
	u->state_bytes[STATE_PRIVATE_CLEAN] = 0;
	if (live_mib == UINT64_MAX)
		return;
	u->heap_taken_ns = second * NS_PER_S + 1;
	matrix_set_no_heap(&u->matrix);
	for (int s = 0; s < STATE_COUNT_; s++)
		u->matrix.cell[OWNER_LIVE][s] = 0;
	u->matrix.cell[OWNER_LIVE][STATE_PRIVATE_DIRTY] = live_mib * MIB;
}

static void end_sample(uint64_t need_mib)
{
	const struct oom_figures figures = { .need_bytes = need_mib * MIB };
	const struct trends_sample sample = { second++ * NS_PER_S, &cgroup, &figures,
					      &processes };

	trends_add(trends, &sample);
	snapshot_clear(&processes);
}

static enum growth_kind group_kind(void)
{
	struct trend t;

	trends_find_group(trends, &t);
	return t.growth.kind;
}

static enum growth_kind need_of(int pid)
{
	struct process_trend t;

	for (size_t i = 0; i < trends_process_count(trends); i++) {
		trends_find_process(trends, i, &t);
		if (t.process.pid == pid)
			return t.need.growth.kind;
	}
	fail_msg("%d is not there", pid);
	return GROWTH_KIND_COUNT_;
}

static void the_growing_process_is_distinguished_from_the_others(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < SAMPLES; i++) {
		/*
		 * in a different order each time, and with a process that comes and goes
		 */
		add_process(i % 2 ? 7 : 8, 1, i % 2 ? 100 + i : 300, UINT64_MAX);
		add_process(i % 2 ? 8 : 7, 1, i % 2 ? 300 : 100 + i, UINT64_MAX);
		if (i % 3 == 0)
			add_process(9, i, 5, UINT64_MAX);
		end_sample(400 + i);
	}
	assert_int_equal(group_kind(), GROWTH_STEADY);
	assert_int_equal(need_of(7), GROWTH_STEADY);
	assert_int_equal(need_of(8), GROWTH_NONE);
	assert_int_equal(trends_process_count(trends), 2);
	assert_int_equal(trends_restart_count(trends), 0);
}

static void successive_restarts_are_not_growth(void **state)
{
	struct trend t;

	(void)state;
	for (uint64_t i = 0; i < SAMPLES; i++) {
		/*
		 * each restart needs more than the previous one, but none of them grows
		 */
		add_process(7, i / 40, 100 + 50 * (i / 40), UINT64_MAX);
		end_sample(100 + 50 * (i / 40));
	}
	trends_find_group(trends, &t);
	assert_int_equal(t.growth.kind, GROWTH_NONE);
	assert_int_equal(t.sample_count, 40);
	assert_int_equal(t.first_bytes, 200 * MIB);
	assert_int_equal(trends_restart_count(trends), 2);
	assert_int_equal(need_of(7), GROWTH_NONE);
}

static void a_replaced_worker_is_not_a_restart(void **state)
{
	struct trend t;

	(void)state;
	for (uint64_t i = 0; i < SAMPLES; i++) {
		add_process(1, 0, 10, UINT64_MAX);
		add_process(7, i / 10, 50 + 3 * (i % 10), UINT64_MAX);
		end_sample(60 + 3 * (i % 10) + i);
	}
	trends_find_group(trends, &t);
	assert_int_equal(t.sample_count, SAMPLES);
	assert_int_equal(trends_restart_count(trends), 0);
	assert_int_equal(t.growth.kind, GROWTH_STEADY);
}

static void another_group_starts_a_new_trend(void **state)
{
	struct trend t;

	(void)state;
	for (uint64_t i = 0; i < SAMPLES; i++) {
		level.path = (char *)(uintptr_t)(i < 100 ? "/a" : "/b");
		add_process(7, 1, 100, UINT64_MAX);
		end_sample(100 + i);
	}
	trends_find_group(trends, &t);
	assert_int_equal(t.sample_count, SAMPLES - 100);
	assert_int_equal(trends_restart_count(trends), 1);
}

static void samples_without_a_process_change_nothing(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < SAMPLES; i++) {
		if (i < SAMPLES - 5 && i % 10)
			add_process(7, 1, 100 + i, UINT64_MAX);
		end_sample(100 + i);
	}
	assert_int_equal(trends_restart_count(trends), 0);
	assert_int_equal(group_kind(), GROWTH_STEADY);
	assert_int_equal(need_of(7), GROWTH_STEADY);
}

static enum growth_cause cause_of(uint64_t live_before_mib, uint64_t live_rise_percent)
{
	struct process_trend t;

	trends_free(trends);
	trends = trends_new();
	for (uint64_t i = 0; i < SAMPLES; i++) {
		add_process(7, 1, 100 + i, live_before_mib + i * live_rise_percent / 100);
		end_sample(100 + i);
	}
	trends_find_process(trends, 0, &t);
	return process_trend_cause(&t);
}

static void a_leak_is_distinguished_from_memory_kept_by_the_allocator(void **state)
{
	struct process_trend t;

	(void)state;
	assert_int_equal(cause_of(80, 100), GROWTH_CAUSE_LEAK);
	assert_int_equal(cause_of(80, 60), GROWTH_CAUSE_LEAK);
	assert_int_equal(cause_of(80, 40), GROWTH_CAUSE_KEPT);
	assert_int_equal(cause_of(80, 0), GROWTH_CAUSE_KEPT);
	/* the heap was not read */
	trends_free(trends);
	trends = trends_new();
	for (uint64_t i = 0; i < SAMPLES; i++) {
		add_process(7, 1, 100 + i, UINT64_MAX);
		end_sample(100 + i);
	}
	trends_find_process(trends, 0, &t);
	assert_int_equal(t.live.sample_count, 0);
	assert_int_equal(process_trend_cause(&t), GROWTH_CAUSE_UNKNOWN);
}

/*
 * The heap of a leaking process is read at some samples only; the others repeat the last
 * result.
 */
static void samples_between_two_readings_of_the_heap_are_ignored(void **state)
{
	static const uint64_t need[] = { 14, 16, 18, 20, 21, 23, 25, 27, 29, 30, 32, 33 };
	/* the live memory, and the sample in which it was read */
	static const struct {
		uint64_t mib, read_at;
	} live[] = { { 0, 0 }, { 0, 0 },  { 4, 2 },  { 5, 3 },	{ 7, 4 },   { 9, 5 },
		     { 9, 5 }, { 13, 7 }, { 15, 8 }, { 15, 8 }, { 18, 10 }, { 18, 10 } };
	struct process_trend t;

	(void)state;
	for (uint64_t i = 0; i < 12; i++) {
		add_process(7, 1, need[i], live[i].mib);
		processes.usages[0].heap_taken_ns = live[i].read_at * NS_PER_S + 1;
		end_sample(need[i]);
	}
	trends_find_process(trends, 0, &t);
	assert_int_equal(t.need.sample_count, 12);
	assert_int_equal(t.live.sample_count, 8);
	assert_int_equal(process_trend_cause(&t), GROWTH_CAUSE_LEAK);
	/* a recording contains no time for the repeated results */
	trends_free(trends);
	trends = trends_new();
	for (uint64_t i = 0; i < 12; i++) {
		add_process(7, 1, need[i], live[i].mib);
		if (live[i].read_at != i)
			processes.usages[0].heap_taken_ns = 0;
		end_sample(need[i]);
	}
	trends_find_process(trends, 0, &t);
	assert_int_equal(t.live.sample_count, 8);
	assert_int_equal(process_trend_cause(&t), GROWTH_CAUSE_LEAK);
}

/* Each reading shows more free memory and the same live blocks; no sample has a time. */
static void freed_memory_that_grows_is_a_new_reading_in_a_recording(void **state)
{
	struct process_trend t;

	(void)state;
	for (uint64_t i = 0; i < 12; i++) {
		struct usage *u;

		add_process(7, 1, 14 + 2 * i, 4);
		u = &processes.usages[0];
		u->heap_taken_ns = 0;
		for (int k = 0; k < STATE_COUNT_; k++) {
			u->matrix.cell[OWNER_POOL_PAGES][k] = 0;
			u->matrix.cell[OWNER_POOL_FRAGMENTS][k] = 0;
		}
		u->matrix.cell[OWNER_POOL_PAGES][STATE_PRIVATE_DIRTY] = 2 * i * MIB;
		end_sample(14 + 2 * i);
	}
	trends_find_process(trends, 0, &t);
	assert_int_equal(t.live.sample_count, 12);
	assert_int_equal(process_trend_cause(&t), GROWTH_CAUSE_KEPT);
}

static void need_is_anonymous_memory_that_cannot_be_reclaimed(void **state)
{
	struct usage u;

	(void)state;
	usage_init(&u);
	assert_true(usage_need_bytes(&u) == BYTES_UNKNOWN);
	u.total.bytes[SMAPS_ANONYMOUS] = 100;
	u.total.bytes[SMAPS_PRIVATE_CLEAN] = 50;
	u.state_bytes[STATE_PRIVATE_CLEAN] = 20;
	assert_int_equal(usage_need_bytes(&u), 70);
	usage_release(&u);
}

/* Two months with a sample each second. */
static void an_endless_series_uses_bounded_memory_with_the_same_result(void **state)
{
	enum {
		MANY = 5000000
	};
	struct growth_series series = GROWTH_SERIES_INIT;
	struct growth growth;

	(void)state;
	for (uint64_t i = 0; i < MANY; i++) {
		/* daily teeth of 50 MiB on a floor that rises by 200 MiB in total */
		growth_series_add(&series, i * NS_PER_S,
				  (100 + i % 86400 * 50 / 86400) * MIB +
					  i * 200 * MIB / MANY);
		assert_true(series.count <= GROWTH_POINTS_MAX);
	}
	growth_series_add(&series, MANY * NS_PER_S, BYTES_UNKNOWN);
	assert_int_equal(series.added_count, MANY);
	growth_find(series.points, series.count, &growth);
	assert_int_equal(growth.kind, GROWTH_STEADY);
	assert_in_range(growth.cycle_ns, 80000 * NS_PER_S, 95000 * NS_PER_S);
	assert_in_range(growth.rate_bytes, 200 * MIB * 3600 / MANY * 9 / 10,
			200 * MIB * 3600 / MANY * 11 / 10);
	/* a tooth spans some days, during which the floor rises */
	assert_in_range(growth.tooth_bytes, 45 * MIB, 80 * MIB);
	growth_series_release(&series);
}

static void setting_the_clock_back_does_not_reverse_time(void **state)
{
	struct growth_series series = GROWTH_SERIES_INIT;

	(void)state;
	growth_series_add(&series, 10, 1);
	growth_series_add(&series, 5, 2);
	assert_int_equal(series.points[1].time_ns, 10);
	growth_series_clear(&series);
	growth_series_add(&series, 5, 3);
	assert_int_equal(series.count, 1);
	assert_int_equal(series.points[0].time_ns, 5);
	growth_series_release(&series);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_growing_process_is_distinguished_from_the_others, begin, end),
		cmocka_unit_test_setup_teardown(successive_restarts_are_not_growth, begin,
						end),
		cmocka_unit_test_setup_teardown(a_replaced_worker_is_not_a_restart, begin,
						end),
		cmocka_unit_test_setup_teardown(another_group_starts_a_new_trend, begin,
						end),
		cmocka_unit_test_setup_teardown(samples_without_a_process_change_nothing,
						begin, end),
		cmocka_unit_test_setup_teardown(
			a_leak_is_distinguished_from_memory_kept_by_the_allocator, begin,
			end),
		cmocka_unit_test_setup_teardown(
			samples_between_two_readings_of_the_heap_are_ignored, begin, end),
		cmocka_unit_test_setup_teardown(
			freed_memory_that_grows_is_a_new_reading_in_a_recording, begin,
			end),
		cmocka_unit_test(need_is_anonymous_memory_that_cannot_be_reclaimed),
		cmocka_unit_test(
			an_endless_series_uses_bounded_memory_with_the_same_result),
		cmocka_unit_test(setting_the_clock_back_does_not_reverse_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
