/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/exporter/cpu_budget.h"

#include "../../support/unit.h"

#define SECOND NS_PER_S
#define MS ((uint64_t)NS_PER_MS)

static void credit_is_limited_and_grows_with_time(void **state)
{
	struct cpu_budget budget;

	(void)state;
	cpu_budget_init(&budget, 250, SECOND); /* 0.25% */
	assert_true(cpu_budget_has_credit(&budget));
	cpu_budget_use(&budget, 100 * MS);
	assert_false(cpu_budget_has_credit(&budget));
	cpu_budget_earn(&budget, 11 * SECOND);
	assert_int_equal(budget.credit_ns, 25 * MS);
	/* an hour would earn 9 seconds */
	cpu_budget_earn(&budget, 3600 * SECOND);
	assert_int_equal(budget.credit_ns, 100 * MS);
}

static void a_debt_is_paid_before_the_next_step(void **state)
{
	struct cpu_budget budget;

	(void)state;
	cpu_budget_init(&budget, 1000, 0); /* 1% */
	cpu_budget_use(&budget, 600 * MS);
	cpu_budget_earn(&budget, 49 * SECOND);
	assert_false(cpu_budget_has_credit(&budget));
	assert_int_equal(cpu_budget_credit_ns(&budget), 0);
	cpu_budget_earn(&budget, 51 * SECOND);
	assert_true(cpu_budget_has_credit(&budget));
}

/* A step of 30 ms whenever there is credit: the share holds on average. */
static void the_share_holds_in_simulated_time(void **state)
{
	struct cpu_budget budget;
	uint64_t used_ns = 0;

	(void)state;
	cpu_budget_init(&budget, 500, 0); /* 0.5% */
	for (uint64_t now_ns = 0; now_ns <= 3600 * SECOND; now_ns += SECOND) {
		cpu_budget_earn(&budget, now_ns);
		while (cpu_budget_has_credit(&budget)) {
			cpu_budget_use(&budget, 30 * MS);
			used_ns += 30 * MS;
		}
	}
	assert_in_range(used_ns, 18 * SECOND, 18 * SECOND + 130 * MS);
}

static void no_share_is_no_limit(void **state)
{
	struct cpu_budget budget;

	(void)state;
	cpu_budget_init(&budget, 0, 0);
	cpu_budget_use(&budget, 3600 * SECOND);
	assert_true(cpu_budget_has_credit(&budget));
	assert_true(cpu_budget_over(&budget, SECOND) == UINT64_MAX);
}

static void credit_over_a_time(void **state)
{
	struct cpu_budget budget;

	(void)state;
	cpu_budget_init(&budget, 250, 0);
	assert_int_equal(cpu_budget_over(&budget, 300 * SECOND), 750 * MS);
	budget.share = CPU_BUDGET_WHOLE;
	assert_int_equal(cpu_budget_over(&budget, 300 * SECOND), 300 * SECOND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(credit_is_limited_and_grows_with_time),
		cmocka_unit_test(a_debt_is_paid_before_the_next_step),
		cmocka_unit_test(the_share_holds_in_simulated_time),
		cmocka_unit_test(no_share_is_no_limit),
		cmocka_unit_test(credit_over_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
