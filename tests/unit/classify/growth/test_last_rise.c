/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Simulated series whose last rise is known. */
#include "config.h"

#include "classify/growth/last_rise.h"

#include "base/units.h"
#include "../../support/unit.h"

#define SAMPLES 300

/* Returns value i of SAMPLES, in MiB. */
typedef double (*shape)(int i);

static struct rise rise_of(shape value)
{
	struct rise_series s;
	struct rise rise;

	rise_series_init(&s, 0, (SAMPLES - 1) * NS_PER_S);
	for (int i = 0; i < SAMPLES; i++)
		rise_series_add(&s, (uint64_t)i * NS_PER_S,
				(uint64_t)(value(i) * (double)MIB));
	rise_find(&s, &rise);
	return rise;
}

/* Assert that the last rise is this high, to within 10 % and 2 MiB. */
static void assert_rose(shape value, double wanted_mib)
{
	struct rise rise = rise_of(value);
	double got = (double)(rise.to_bytes - rise.from_bytes) / (double)MIB;

	if (got < wanted_mib * 0.9 - 2 || got > wanted_mib * 1.1 + 2)
		fail_msg("rose by %.1f MiB, wanted %.1f", got, wanted_mib);
}

static double noise(int i)
{
	return (double)(i * 7919 % 101) / 200;
}

static double startup_then_flat(int i)
{
	return (i < 30 ? 200.0 * i / 30 : 200) + noise(i);
}

static double flat_then_leak(int i)
{
	return (i < 150 ? 5 : 5 + (i - 150) * 0.3) + noise(i);
}

static double leak(int i)
{
	return 5 + i * 0.15 + noise(i);
}

static double startup_then_leak(int i)
{
	return (i < 30 ? 200.0 * i / 30 : 200 + (i - 30) * 0.12) + noise(i);
}

static double startup_then_sawtooth(int i)
{
	return (i < 20 ? 7.0 * i : 140) + (i % 11) * 6;
}

static double flat_then_burst(int i)
{
	return i < 298 ? 10 : 60;
}

static double leak_then_flat(int i)
{
	return (i < 150 ? i * 0.6 : 90) + noise(i);
}

static double restarted(int i)
{
	return i == 140 || i == 141 ? 0 : 200 + noise(i);
}

static double restarted_just_now(int i)
{
	return i >= 290 && i < 294 ? 0 : 200 + noise(i);
}

static void growth_at_startup_is_left_out(void **state)
{
	(void)state;
	assert_rose(startup_then_flat, 0);
	assert_rose(leak_then_flat, 0);
}

static void a_leak_is_measured_from_its_start(void **state)
{
	(void)state;
	assert_rose(flat_then_leak, 45);
	assert_rose(leak, 45);
	assert_rose(startup_then_leak, 32);
}

static void a_burst_at_the_end_counts_in_full(void **state)
{
	(void)state;
	assert_rose(flat_then_burst, 50);
}

static void a_sawtooth_is_not_growth(void **state)
{
	(void)state;
	assert_rose(startup_then_sawtooth, 0);
}

static void a_restart_to_the_same_size_is_not_growth(void **state)
{
	(void)state;
	assert_rose(restarted, 0);
	assert_rose(restarted_just_now, 0);
}

static void the_duration_is_that_of_the_rise(void **state)
{
	struct rise rise = rise_of(flat_then_leak);

	(void)state;
	assert_in_range(rise.ns, 130 * NS_PER_S, 175 * NS_PER_S);
	rise = rise_of(flat_then_burst);
	assert_int_equal(rise.to_bytes, 60 * MIB);
}

static void a_few_samples_are_compared_with_the_first_one(void **state)
{
	struct rise_series s;
	struct rise rise;

	(void)state;
	rise_series_init(&s, 0, 2 * NS_PER_S);
	rise_find(&s, &rise);
	assert_int_equal(rise.to_bytes, 0);
	rise_series_add(&s, 0, 10 * MIB);
	rise_series_add(&s, NS_PER_S, 15 * MIB);
	rise_series_jump(&s, 2 * NS_PER_S, 40 * MIB);
	rise_find(&s, &rise);
	assert_int_equal(rise.from_bytes, 10 * MIB);
	assert_int_equal(rise.to_bytes, 40 * MIB);
	assert_int_equal(rise.ns, 2 * NS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(growth_at_startup_is_left_out),
		cmocka_unit_test(a_leak_is_measured_from_its_start),
		cmocka_unit_test(a_burst_at_the_end_counts_in_full),
		cmocka_unit_test(a_sawtooth_is_not_growth),
		cmocka_unit_test(a_restart_to_the_same_size_is_not_growth),
		cmocka_unit_test(the_duration_is_that_of_the_rise),
		cmocka_unit_test(a_few_samples_are_compared_with_the_first_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
