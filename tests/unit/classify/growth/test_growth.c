/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulated series whose true growth is known. Each lasts an hour with a sample every ten
 * seconds; there are 20 of each kind with different noise.
 */
#include "config.h"

#include "classify/growth/growth.h"
#include "classify/growth/limit_time.h"

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

static double leak_3(int i, double *memory)
{
	(void)memory;
	return 200 + 3.0 * i / N + made_noise(0.5);
}

static double fall_30(int i, double *memory)
{
	(void)memory;
	return 200 - 30.0 * i / N + made_noise(3);
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

#define KIND(kind) (1U << (kind))
/* The floors do not rise, or by so little that it may be by chance. */
#define CALM                                                            \
	(KIND(GROWTH_NONE) | KIND(GROWTH_SLOW) | KIND(GROWTH_FALLING) | \
	 KIND(GROWTH_BRIEF))

/* Return how many of the series are of one of these kinds, a set of KIND() bits. */
static int count_classified(series_fn series, unsigned int kinds)
{
	struct growth_point points[N];
	struct growth growth;
	int count = 0;

	made_noise_seed(88172645463325252u);
	for (int i = 0; i < REPEATS; i++) {
		make(series, points);
		growth_find(points, N, &growth);
		count += (KIND(growth.kind) & kinds) != 0;
	}
	return count;
}

static void growth_is_classified_from_the_series(void **state)
{
	static const struct {
		const char *name;
		series_fn series;
		unsigned int kinds;
		int min;
	} cases[] = {
		{ "flat", flat, CALM, 19 },
		{ "flat, nothing but noise", flat, KIND(GROWTH_NONE), 17 },
		{ "leak of 3 MiB/h", leak_3, KIND(GROWTH_SLOW), 19 },
		{ "fall of 30 MiB/h", fall_30, KIND(GROWTH_FALLING), 19 },
		{ "leak of 30 MiB/h", leak_30, KIND(GROWTH_STEADY), 19 },
		{ "leak of 100 MiB/h", leak_100, KIND(GROWTH_STEADY), 19 },
		{ "leak that waits", leak_that_waits, KIND(GROWTH_STEADY), 19 },
		{ "teeth", teeth, CALM, 19 },
		{ "teeth and a leak", teeth_and_leak, KIND(GROWTH_STEADY), 19 },
		{ "short warm-up", warm_up_short, KIND(GROWTH_PLATEAU), 19 },
		{ "long warm-up", warm_up_long, KIND(GROWTH_PLATEAU), 19 },
		{ "one step", one_step, KIND(GROWTH_STEP), 19 },
		{ "spikes", spikes, CALM, 19 },
		{ "wandering", wander, CALM, 15 },
		{ "few steps", few_steps, KIND(GROWTH_TOO_SHORT), 19 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int right = count_classified(cases[i].series, cases[i].kinds);

		if (right < cases[i].min)
			print_error("%s: %d of %d\n", cases[i].name, right, REPEATS);
		assert_in_range(right, cases[i].min, REPEATS);
	}
}

/* Return a random number between min and max. */
static double made_between(double min, double max)
{
	return min + (max - min) * made_noise_unit();
}

/* Make a line with random slope, noise, teeth and length. Return the number of points. */
static size_t make_random(struct growth_point points[N])
{
	double slope = made_between(-1, 1) * exp(made_between(-6, 5));
	double noise = exp(made_between(-6, 2)), tooth = made_between(-40, 40);
	size_t count = (size_t)made_between(0, N);

	for (size_t i = 0; i < count; i++) {
		double at = 400 + slope * (double)i / N + made_noise(noise);

		if (tooth > 0)
			at += tooth * (double)(i % 20) / 20;
		points[i] =
			(struct growth_point){ i * 10 * NS_PER_S, (uint64_t)(MEBI * at) };
	}
	return count;
}

/*
 * Whatever the series is, its growth is "none" only if the rate may be 0, "slow" only if
 * it is above 0 and "falling" only if it is below 0.
 */
static void a_rate_that_is_not_0_is_never_called_no_growth(void **state)
{
	size_t counts[GROWTH_KIND_COUNT_] = { 0 };

	(void)state;
	made_noise_seed(1685821657736338717u);
	for (int i = 0; i < 3000; i++) {
		struct growth_point points[N];
		struct growth g;

		growth_find(points, make_random(points), &g);
		counts[g.kind]++;
		if (g.kind == GROWTH_NONE)
			assert_true(g.rate_low_bytes <= 0 && g.rate_high_bytes >= 0);
		if (g.kind == GROWTH_SLOW || g.kind == GROWTH_STEADY ||
		    g.kind == GROWTH_BRIEF)
			assert_true(g.rate_low_bytes >= 0 && g.rate_high_bytes > 0);
		if (g.kind == GROWTH_FALLING)
			assert_true(g.rate_low_bytes < 0 && g.rate_high_bytes <= 0);
		assert_true(g.kind == GROWTH_TOO_SHORT || g.missing_count == 0);
		assert_true(g.kind == GROWTH_TOO_SHORT ||
			    (g.kind == GROWTH_BRIEF) == (g.missing_ns > 0));
	}
	assert_in_range(counts[GROWTH_TOO_SHORT], 20, 3000);
	assert_in_range(counts[GROWTH_NONE], 100, 3000);
	assert_in_range(counts[GROWTH_SLOW], 100, 3000);
	assert_in_range(counts[GROWTH_BRIEF], 20, 3000);
	assert_in_range(counts[GROWTH_FALLING], 100, 3000);
	assert_in_range(counts[GROWTH_STEADY], 100, 3000);
}

/* A result comes with as many more samples, or as much more time, as was missing. */
static void what_is_missing_for_a_result_is_enough(void **state)
{
	struct growth_point points[N];
	struct growth before, after;
	size_t count = 0, cycles = 0;

	(void)state;
	made_noise_seed(2685821657736338717u);
	make(teeth_and_leak, points);
	for (; count < GROWTH_FLOORS_MIN; count++) {
		growth_find(points, count, &before);
		assert_int_equal(before.missing_count, GROWTH_FLOORS_MIN - count);
		growth_find(points, count + before.missing_count, &after);
		assert_int_not_equal(after.kind, GROWTH_TOO_SHORT);
	}
	for (; count < N; count++) {
		growth_find(points, count, &before);
		if (before.kind != GROWTH_TOO_SHORT)
			continue;
		assert_true(before.cycle_ns > 0 && before.missing_ns > 0);
		cycles++;
		growth_find(points, count + before.missing_ns / (10 * NS_PER_S), &after);
		/* with more samples, the cycle may be found to be a little longer */
		assert_true(after.kind != GROWTH_TOO_SHORT ||
			    after.cycle_ns > before.cycle_ns);
	}
	assert_true(cycles > 10);
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

/* A fast leak is brief, not slow, until it has been observed for long enough. */
static void fast_growth_that_was_seen_briefly_is_not_called_slow(void **state)
{
	struct growth_point points[N];
	struct growth growth;
	size_t brief = 0;

	(void)state;
	for (size_t i = 0; i < N; i++)
		points[i] = (struct growth_point){
			i * 10 * NS_PER_S,
			(uint64_t)(MEBI * (200 + 100.0 * (double)i / N))
		};
	for (size_t count = GROWTH_FLOORS_MIN; count < N; count++) {
		growth_find(points, count, &growth);
		if (growth.kind == GROWTH_STEADY)
			continue;
		assert_int_equal(growth.kind, GROWTH_BRIEF);
		assert_true(growth.rate_low_bytes > 90 * (int64_t)MIB);
		brief++;
		growth_find(points, count + 1 + growth.missing_ns / (10 * NS_PER_S),
			    &growth);
		assert_int_equal(growth.kind, GROWTH_STEADY);
	}
	assert_in_range(brief, 10, 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(growth_is_classified_from_the_series),
		cmocka_unit_test(a_rate_that_is_not_0_is_never_called_no_growth),
		cmocka_unit_test(what_is_missing_for_a_result_is_enough),
		cmocka_unit_test(fast_growth_that_was_seen_briefly_is_not_called_slow),
		cmocka_unit_test(the_rate_follows_the_floors_and_lies_in_its_interval),
		cmocka_unit_test(the_limit_is_reached_when_predicted),
		cmocka_unit_test(too_few_points_give_no_verdict),
		cmocka_unit_test(gaps_and_uneven_times_do_not_matter),
		cmocka_unit_test(thinning_many_points_does_not_change_the_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
