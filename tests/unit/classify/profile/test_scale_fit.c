/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/profile/scale_fit.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "../../support/unit.h"

/* value = constant + factor * size^k * (log size)^l, rounded, with noise added. */
struct series {
	double first, ratio;
	size_t count;
	double constant, factor, k;
	int is_log;
	double noise; /* relative: the largest deviation as a part of the value */
};

static uint64_t random_state;

/* Return a number from -1 to 1. The sequence is the same in each run. */
static double next_random(void)
{
	random_state = random_state * UINT64_C(6364136223846793005) +
		       UINT64_C(1442695040888963407);
	return (double)(random_state >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

static struct scale_fit fit_series(const struct series *series)
{
	struct scale_point points[20];
	struct scale_fit fit;
	double size = series->first;

	for (size_t i = 0; i < series->count; i++) {
		double value =
			series->constant + series->factor * pow(size, series->k) *
						   (series->is_log ? log(size) : 1);

		points[i].size = size;
		points[i].value =
			floor(value * (1 + series->noise * next_random()) + 0.5);
		size = floor(size * series->ratio);
	}
	scale_fit(points, series->count, &fit);
	return fit;
}

static void assert_near(double value, double wanted, double within, const char *what,
			size_t i)
{
	if (fabs(value - wanted) > within)
		fail_msg("case %zu: %s is %f, not %f", i, what, value, wanted);
}

static void the_exponent_of_a_power_is_found(void **state)
{
	static const struct series cases[] = {
		{ 10, 2, 6, 0, 3, 1, 0, 0 },	 { 10, 2, 6, 0, 2, 2, 0, 0 },
		{ 10, 2, 6, 5000, 2, 2, 0, 0 },	 { 1000, 2, 6, 500, 1, 1, 0, 0 },
		{ 10, 2, 7, 300, 7, 1.5, 0, 0 }, { 100, 2, 7, 100, 10, 0.5, 0, 0 },
		{ 4, 2, 6, 0, 1, 3, 0, 0 },	 { 10, 2, 4, 0, 3, 1, 0, 0 },
		{ 1e6, 2, 6, 3e6, 40, 1, 0, 0 }, { 10, 1.5, 8, 100, 5, 1, 0, 0 },
		{ 10, 2, 6, 1000, 10, 1, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scale_fit fit = fit_series(&cases[i]);

		assert_int_equal(fit.outcome, SCALE_FITTED);
		assert_near(fit.exponent, cases[i].k, 0.05, "exponent", i);
		assert_true(fit.low <= fit.exponent && fit.exponent <= fit.high);
		assert_true(fit.r_squared > 0.999);
		assert_near(fit.constant, cases[i].constant,
			    2 + 0.05 * cases[i].constant + cases[i].factor, "constant",
			    i);
	}
}

static void the_exponent_of_n_log_n_is_slightly_above_one(void **state)
{
	const struct series series = { 100, 2, 8, 0, 1, 1, 1, 0 };
	struct scale_fit fit = fit_series(&series);

	(void)state;
	assert_int_equal(fit.outcome, SCALE_FITTED);
	assert_true(fit.exponent > 1.05 && fit.exponent < 1.3);
}

static void a_series_without_growth_is_constant(void **state)
{
	const struct series constant = { 10, 2, 6, 1234, 0, 1, 0, 0 };
	const struct series nothing = { 10, 2, 6, 0, 0, 1, 0, 0 };

	(void)state;
	assert_int_equal(fit_series(&constant).outcome, SCALE_CONSTANT);
	assert_int_equal(fit_series(&nothing).outcome, SCALE_CONSTANT);
	assert_true(fabs(fit_series(&constant).exponent) < 1e-9);
}

static void growth_hidden_by_start_up_costs_is_not_guessed(void **state)
{
	const struct series large = { 10, 2, 6, 1e7, 1, 2, 0, 0 };
	const struct series noisy = { 10, 2, 6, 1000, 0, 1, 0, 0.02 };

	(void)state;
	assert_int_equal(fit_series(&large).outcome, SCALE_START_UP);
	assert_int_equal(fit_series(&noisy).outcome, SCALE_START_UP);
}

static void too_few_or_too_close_sizes_are_refused(void **state)
{
	const struct series three = { 10, 2, 3, 0, 1, 1, 0, 0 };
	const struct series near = { 100, 1.2, 6, 0, 1, 1, 0, 0 };
	const struct scale_point twice[] = {
		{ 10, 1 }, { 10, 1 }, { 20, 2 }, { 40, 4 }, { 40, 4 }
	};
	struct scale_fit fit;

	(void)state;
	assert_int_equal(fit_series(&three).outcome, SCALE_TOO_FEW);
	assert_int_equal(fit_series(&near).outcome, SCALE_TOO_NEAR);
	scale_fit(twice, 5, &fit);
	assert_int_equal(fit.outcome, SCALE_TOO_FEW);
	scale_fit(NULL, 0, &fit);
	assert_int_equal(fit.outcome, SCALE_TOO_FEW);
}

static void noise_alone_has_no_exponent(void **state)
{
	const struct series noise = { 10, 2, 8, 1000, 0, 1, 0, 0.5 };
	int fitted_count = 0;

	(void)state;
	for (random_state = 1; random_state < 100; random_state++) {
		uint64_t seed = random_state;

		fitted_count += fit_series(&noise).outcome == SCALE_FITTED;
		random_state = seed;
	}
	assert_true(fitted_count <= 2);
}

static void most_intervals_of_noisy_values_contain_the_exponent(void **state)
{
	const struct series series = { 100, 2, 8, 2000, 10, 1, 0, 0.03 };
	int within_count = 0, fitted_count = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct scale_fit fit;

		random_state = seed * 7919;
		fit = fit_series(&series);
		if (fit.outcome != SCALE_FITTED)
			continue;
		fitted_count++;
		within_count += fit.low <= 1 && 1 <= fit.high;
	}
	assert_true(fitted_count >= 190);
	assert_true(within_count * 100 >= fitted_count * 88);
}

static void falling_values_are_not_a_power(void **state)
{
	const struct scale_point points[] = {
		{ 10, 90 }, { 20, 60 }, { 40, 40 }, { 80, 10 }, { 160, 0 }
	};
	struct scale_fit fit;

	(void)state;
	scale_fit(points, 5, &fit);
	assert_int_equal(fit.outcome, SCALE_UNCERTAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_exponent_of_a_power_is_found),
		cmocka_unit_test(the_exponent_of_n_log_n_is_slightly_above_one),
		cmocka_unit_test(a_series_without_growth_is_constant),
		cmocka_unit_test(growth_hidden_by_start_up_costs_is_not_guessed),
		cmocka_unit_test(too_few_or_too_close_sizes_are_refused),
		cmocka_unit_test(noise_alone_has_no_exponent),
		cmocka_unit_test(most_intervals_of_noisy_values_contain_the_exponent),
		cmocka_unit_test(falling_values_are_not_a_power),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
