/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rate of requests, in simulated time. */
#include "config.h"

#include "cmd/exporter/web_rate.h"

#include "base/units.h"
#include "../../support/unit.h"

#define SECOND NS_PER_S

static size_t count_allowed(struct web_rate *rate, size_t attempts, uint64_t now_ns)
{
	size_t count = 0;

	for (size_t i = 0; i < attempts; i++)
		count += web_rate_allow(rate, now_ns);
	return count;
}

static void a_burst_is_allowed_and_then_one_request_per_interval(void **state)
{
	struct web_rate rate;

	(void)state;
	web_rate_set(&rate, 2 * SECOND, 3, 10 * SECOND);
	assert_int_equal(count_allowed(&rate, 10, 10 * SECOND), 3);
	assert_int_equal(count_allowed(&rate, 10, 12 * SECOND - 1), 0);
	assert_int_equal(count_allowed(&rate, 10, 12 * SECOND), 1);
	assert_int_equal(count_allowed(&rate, 10, 16 * SECOND), 2);
	assert_int_equal(count_allowed(&rate, 10, 1000 * SECOND), 3);
}

static void refused_requests_cost_nothing(void **state)
{
	size_t allowed = 0;
	struct web_rate rate;

	(void)state;
	web_rate_set(&rate, SECOND, 1, 0);
	for (uint64_t i = 0; i < 1000; i++)
		allowed += web_rate_allow(&rate, i * SECOND / 100);
	assert_int_equal(allowed, 10);
}

static void an_interval_of_0_is_no_limit(void **state)
{
	struct web_rate rate;

	(void)state;
	web_rate_set(&rate, 0, 1, 0);
	assert_int_equal(count_allowed(&rate, 1000, 0), 1000);
}

static void large_numbers_do_not_overflow(void **state)
{
	struct web_rate rate;

	(void)state;
	web_rate_set(&rate, UINT64_MAX / 2, UINT64_MAX, 0);
	assert_int_equal(count_allowed(&rate, 10, UINT64_MAX), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_burst_is_allowed_and_then_one_request_per_interval),
		cmocka_unit_test(refused_requests_cost_nothing),
		cmocka_unit_test(an_interval_of_0_is_no_limit),
		cmocka_unit_test(large_numbers_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
