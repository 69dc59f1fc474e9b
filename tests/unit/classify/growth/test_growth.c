/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulated series whose true growth is known. Each lasts an hour with a sample every ten
 * seconds; there are 20 of each kind with different noise.
 */
#include "config.h"

#include "classify/growth/growth.h"

#include <math.h>
#include <stdlib.h>

#include "base/units.h"
#include "../../support/made_noise.h"
#include "../../support/unit.h"

#define N 360
#define REPEATS 20
#define MEBI ((double)MIB)

typedef double (*series_fn)(int i, double *memory);

static double flat(int i, double *memory)
{
	(void)i;
	(void)memory;
	return 300 + made_noise(3);
}

static double leak_30(int i, double *memory)
{
	(void)memory;
	return 200 + 30.0 * i / N + made_noise(3);
}

static double leak_100(int i, double *memory)
{
	(void)memory;
	return 200 + 100.0 * i / N + made_noise(3);
}

/* A leak that pauses now and then, and catches up afterwards. */
static double leak_that_waits(int i, double *memory)
{
	int at = i % 90;

	(void)memory;
	return 200 + 100.0 * (i - at + (at < 60 ? at / 2.0 : 30 + (at - 60) * 2.0)) / N +
	       made_noise(0.5);
}

static double teeth(int i, double *memory)
{
	(void)memory;
	return 200 + 80 * (i % 40) / 40.0 + made_noise(3);
}

static double teeth_and_leak(int i, double *memory)
{
	(void)memory;
	return 200 + 60.0 * i / N + 80 * (i % 40) / 40.0 + made_noise(3);
}

static double teeth_and_more_leak(int i, double *memory)
{
	return teeth_and_leak(i, memory) + 40.0 * i / N;
}

static double warm_up_short(int i, double *memory)
{
	(void)memory;
	return 200 + 150 * (1 - exp(-i / 40.0)) + made_noise(3);
}

static double warm_up_long(int i, double *memory)
{
	(void)memory;
	return 200 + 150 * (1 - exp(-i / 90.0)) + made_noise(3);
}

static double one_step(int i, double *memory)
{
	(void)memory;
	return 200 + (i > N * 0.6 ? 120 : 0) + made_noise(3);
}

static double spikes(int i, double *memory)
{
	(void)i;
	(void)memory;
	return 200 + (made_noise_unit() < 0.03 ? 150 : 0) + made_noise(3);
}

static double wander(int i, double *memory)
{
	(void)i;
	*memory = 0.97 * *memory + made_noise(3);
	return 300 + *memory;
}

static double few_steps(int i, double *memory)
{
	(void)memory;
	return 200 + 20.0 * (i * 6 / N) + made_noise(2);
}

static void make(series_fn series, struct growth_point points[N])
{
	double memory = 0;

	for (int i = 0; i < N; i++)
		points[i] =
			(struct growth_point){ (uint64_t)i * 10 * NS_PER_S,
					       (uint64_t)(MEBI * series(i, &memory)) };
}

static int count_judged(series_fn series, enum growth_kind kind)
{
	struct growth_point points[N];
	struct growth growth;
	int count = 0;

	made_noise_seed(88172645463325252u);
	for (int i = 0; i < REPEATS; i++) {
		make(series, points);
		growth_find(points, N, &growth);
		count += growth.kind == kind;
	}
	return count;
}

static void growth_is_classified_from_the_series(void **state)
{
	static const struct {
		const char *name;
		series_fn series;
		enum growth_kind kind;
		int min;
	} cases[] = {
		{ "flat", flat, GROWTH_NONE, 19 },
		{ "leak of 30 MiB/h", leak_30, GROWTH_STEADY, 19 },
		{ "leak of 100 MiB/h", leak_100, GROWTH_STEADY, 19 },
		{ "leak that waits", leak_that_waits, GROWTH_STEADY, 19 },
		{ "teeth", teeth, GROWTH_NONE, 19 },
		{ "teeth and a leak", teeth_and_leak, GROWTH_STEADY, 19 },
		{ "short warm-up", warm_up_short, GROWTH_PLATEAU, 19 },
		{ "long warm-up", warm_up_long, GROWTH_PLATEAU, 19 },
		{ "one step", one_step, GROWTH_STEP, 19 },
		{ "spikes", spikes, GROWTH_NONE, 19 },
		{ "wandering", wander, GROWTH_NONE, 15 },
		{ "few steps", few_steps, GROWTH_TOO_SHORT, 19 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int right = count_judged(cases[i].series, cases[i].kind);

		if (right < cases[i].min)
			print_error("%s: %d of %d\n", cases[i].name, right, REPEATS);
		assert_in_range(right, cases[i].min, REPEATS);
	}
}

static void the_rate_follows_the_floors_and_lies_in_its_interval(void **state)
{
	struct growth_point points[N];
	struct growth growth;
	int inside = 0;

	(void)state;
	made_noise_seed(362436069);
	for (int i = 0; i < REPEATS; i++) {
		make(teeth_and_leak, points);
		growth_find(points, N, &growth);
		assert_true(fabs((double)growth.rate_bytes - 60 * MEBI) < 15 * MEBI);
		inside += (double)growth.rate_low_bytes <= 60 * MEBI &&
			  (double)growth.rate_high_bytes >= 60 * MEBI;
		assert_true(growth.cycle_ns > 390 * NS_PER_S &&
			    growth.cycle_ns < 410 * NS_PER_S);
		assert_true(fabs((double)growth.tooth_bytes - 80 * MEBI) < 25 * MEBI);
	}
	assert_in_range(inside, 17, REPEATS);
}

/*
 * The series grows by 100 MiB/h below teeth of 80 MiB, starting at 200 MiB. A tooth can
 * reach 400 MiB after 72 minutes; the first that is high enough comes after 79.
 */
static void the_limit_is_reached_when_predicted(void **state)
{
	struct growth_point points[N];
	struct growth growth;
	struct growth_time left;
	int foreseen = 0, inside = 0;

	(void)state;
	made_noise_seed(521288629);
	for (int i = 0; i < REPEATS; i++) {
		make(teeth_and_more_leak, points);
		growth_find(points, 280, &growth); /* the first 47 minutes */
		if (!growth_time_to(&growth, (uint64_t)(400 * MEBI), &left))
			continue;
		foreseen++;
		assert_true(left.ns > 15 * 60 * NS_PER_S && left.ns < 40 * 60 * NS_PER_S);
		inside += left.soonest_ns <= 32 * 60 * NS_PER_S &&
			  left.latest_ns >= 25 * 60 * NS_PER_S;
	}
	assert_in_range(foreseen, 19, REPEATS);
	assert_in_range(inside, 17, REPEATS);
}

static void too_few_points_give_no_verdict(void **state)
{
	struct growth_point points[N];
	struct growth growth;
	struct growth_time left;

	(void)state;
	made_noise_seed(7);
	make(leak_100, points);
	for (size_t count = 0; count < GROWTH_FLOORS_MIN; count++) {
		growth_find(points, count, &growth);
		assert_int_equal(growth.kind, GROWTH_TOO_SHORT);
		assert_false(growth_time_to(&growth, UINT64_MAX, &left));
	}
	for (int i = 0; i < N; i++)
		points[i].time_ns = 5;
	growth_find(points, N, &growth);
	assert_int_equal(growth.kind, GROWTH_TOO_SHORT);
}

static void gaps_and_uneven_times_do_not_matter(void **state)
{
	struct growth_point points[N], some[N];
	struct growth growth;
	size_t count = 0;

	(void)state;
	made_noise_seed(1234567);
	make(leak_100, points);
	for (size_t i = 0; i < N; i++)
		if (i < 100 || i > 150 || i % 7 == 0)
			some[count++] = points[i];
	growth_find(some, count, &growth);
	assert_int_equal(growth.kind, GROWTH_STEADY);
	assert_true(fabs((double)growth.rate_bytes - 100 * MEBI) < 10 * MEBI);
}

static void thinning_many_points_does_not_change_the_result(void **state)
{
	enum {
		MANY = 20 * N
	};
	struct growth_point *points = calloc(MANY, sizeof(*points));
	struct growth growth;

	(void)state;
	made_noise_seed(99);
	for (int i = 0; i < MANY; i++)
		points[i] = (struct growth_point){
			(uint64_t)i * NS_PER_S / 2,
			(uint64_t)(MEBI * (200 + 100.0 * i / MANY + made_noise(3)))
		};
	growth_find(points, MANY, &growth);
	assert_int_equal(growth.kind, GROWTH_STEADY);
	assert_true(fabs((double)growth.rate_bytes - 100 * MEBI) < 10 * MEBI);
	free(points);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(growth_is_classified_from_the_series),
		cmocka_unit_test(the_rate_follows_the_floors_and_lies_in_its_interval),
		cmocka_unit_test(the_limit_is_reached_when_predicted),
		cmocka_unit_test(too_few_points_give_no_verdict),
		cmocka_unit_test(gaps_and_uneven_times_do_not_matter),
		cmocka_unit_test(thinning_many_points_does_not_change_the_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
