/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/growth/pace.h"

#include "base/units.h"
#include "model/cgroup.h"
#include "../../support/unit.h"

#define LIMIT (64 * MIB)
#define SLACK MIB
#define MS NS_PER_MS

static struct oom_pace begin(void)
{
	struct oom_pace pace;

	oom_pace_init(&pace, 5 * MS, 1000 * MS);
	return pace;
}

static uint64_t next(struct oom_pace *pace, uint64_t taken_ns, uint64_t need)
{
	const struct oom_pace_sample sample = { 1 + taken_ns, need, LIMIT, SLACK };

	return oom_pace_next(pace, &sample);
}

static void without_growth_far_from_the_limit_the_interval_is_the_longest(void **state)
{
	struct oom_pace pace = begin();

	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(next(&pace, i * 1000 * MS, 20 * MIB), 1000 * MS);
}

static void without_growth_near_the_limit_the_interval_is_shorter(void **state)
{
	struct oom_pace pace = begin();

	(void)state;
	/*
	 * The pace assumes growth of at least 1 % of the limit per second, and
	 * takes eight samples until the limit: a second apart at 8 % headroom,
	 * a quarter second at 2 %.
	 */
	assert_in_range(next(&pace, 0, LIMIT - LIMIT * 2 / 100), 245 * MS, 255 * MS);
	assert_int_equal(next(&pace, 1000 * MS, LIMIT), 5 * MS);
	assert_int_equal(next(&pace, 2000 * MS, LIMIT + MIB), 5 * MS);
}

/* Return the headroom at the last sample before the limit, for constant growth. */
static uint64_t unseen_at_limit(uint64_t bytes_per_ms, uint64_t *ret_samples)
{
	struct oom_pace pace = begin();
	uint64_t at_ns = 0, last = 0, samples = 0;

	for (;;) {
		uint64_t need = 4 * MIB + at_ns / MS * bytes_per_ms;

		if (need >= LIMIT)
			break;
		last = need;
		samples++;
		at_ns += next(&pace, at_ns, need);
	}
	*ret_samples = samples;
	return LIMIT - last;
}

static void growth_is_sampled_closely_up_to_the_limit(void **state)
{
	uint64_t samples;

	(void)state;
	/*
	 * For 1 MiB, 8 MiB and 50 MiB per second, at most an eighth of the headroom or 5
	 * ms of growth may be unseen.
	 */
	assert_in_range(unseen_at_limit(MIB / 1000, &samples), 0, MIB / 50);
	assert_in_range(samples, 40, 400);
	assert_in_range(unseen_at_limit(8 * MIB / 1000, &samples), 0, MIB / 8);
	assert_in_range(unseen_at_limit(50 * MIB / 1000, &samples), 0, MIB);
}

static void flushes_of_per_cpu_counters_are_not_growth(void **state)
{
	struct oom_pace pace = begin();

	(void)state;
	for (uint64_t i = 0; i < 200; i++)
		assert_int_equal(next(&pace, i * 20 * MS, 20 * MIB + (i % 2) * SLACK),
				 1000 * MS);
}

static void after_a_burst_the_interval_at_most_doubles(void **state)
{
	struct oom_pace pace = begin();
	uint64_t at = 1000 * MS, before;

	(void)state;
	next(&pace, 0, 10 * MIB);
	before = next(&pace, at, 60 * MIB);
	assert_in_range(before, 5 * MS, 20 * MS);
	while (before < 1000 * MS) {
		uint64_t now;

		at += before;
		now = next(&pace, at, 10 * MIB);
		assert_true(now <= 2 * before);
		before = now;
		assert_true(at < 60000 * MS);
	}
}

static void without_a_limit_or_a_known_need_the_interval_is_the_longest(void **state)
{
	struct oom_pace pace = begin();
	struct oom_pace_sample sample = { 1, 60 * MIB, CGROUP_NO_LIMIT, 0 };

	(void)state;
	assert_int_equal(oom_pace_next(&pace, &sample), 1000 * MS);
	sample = (struct oom_pace_sample){ 2, BYTES_UNKNOWN, LIMIT, 0 };
	assert_int_equal(oom_pace_next(&pace, &sample), 1000 * MS);
	sample =
		(struct oom_pace_sample){ UINT64_MAX, UINT64_MAX - 2, UINT64_MAX - 3, 0 };
	assert_in_range(oom_pace_next(&pace, &sample), 5 * MS, 1000 * MS);
}

static void the_cpu_share_falls_as_the_interval_grows(void **state)
{
	(void)state;
	assert_int_equal(oom_pace_share_per_million(5 * MS, 20), 20000);
	assert_int_equal(oom_pace_share_per_million(50 * MS, 20), 20000);
	assert_int_equal(oom_pace_share_per_million(1000 * MS, 20), 1000);
}

static void a_step_is_passed_again_only_after_falling_well_below_it(void **state)
{
	static const struct {
		uint64_t percent;
		bool passes;
	} needs[] = {
		{ 50, false }, { 79, false }, { 80, true }, { 85, false }, { 79, false },
		{ 81, false }, { 74, false }, { 80, true }, { 96, true },  { 91, false },
		{ 95, false }, { 89, false }, { 95, true }, { 100, true }, { 120, false },
	};
	struct oom_steps steps = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		assert_int_equal(
			oom_steps_pass(&steps, needs[i].percent * MIB, 100 * MIB),
			needs[i].passes);
	assert_false(oom_steps_pass(&steps, 100 * MIB, CGROUP_NO_LIMIT));
	assert_false(oom_steps_pass(&steps, BYTES_UNKNOWN, 100 * MIB));
	assert_false(oom_steps_pass(&steps, MIB, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			without_growth_far_from_the_limit_the_interval_is_the_longest),
		cmocka_unit_test(without_growth_near_the_limit_the_interval_is_shorter),
		cmocka_unit_test(growth_is_sampled_closely_up_to_the_limit),
		cmocka_unit_test(flushes_of_per_cpu_counters_are_not_growth),
		cmocka_unit_test(after_a_burst_the_interval_at_most_doubles),
		cmocka_unit_test(
			without_a_limit_or_a_known_need_the_interval_is_the_longest),
		cmocka_unit_test(the_cpu_share_falls_as_the_interval_grows),
		cmocka_unit_test(a_step_is_passed_again_only_after_falling_well_below_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
