/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/profile/count_stats.h"

#include <errno.h>

#include "base/units.h"
#include "../../support/unit.h"

static struct count_run items[5];
static struct count_stats stats;

/* Make runs with these numbers of allocations; all other counts are 0. */
static void measure(const uint64_t *allocations, size_t count, uint64_t iterations)
{
	const struct count_runs runs = { items, count, count, iterations };

	for (size_t i = 0; i < count; i++) {
		items[i] = (struct count_run){ .number = (unsigned int)i + 1,
					       .program_count = 1 };
		items[i].program.sums.allocation_calls = allocations[i];
		items[i].peak_rss_bytes = 4096 * (i + 1);
	}
	count_stats_init(&stats, &runs);
}

static enum limit_outcome check(enum limit_kind kind, uint64_t value, uint64_t tolerance,
				bool is_percent)
{
	const struct count_limit limit = { COUNTED_ALLOCATIONS, kind, value, tolerance,
					   is_percent };

	return count_limit_check(&limit, &stats);
}

static void equal_runs_are_deterministic_whatever_their_rss(void **state)
{
	const uint64_t same[] = { 7, 7, 7 }, other[] = { 7, 7, 8 };

	(void)state;
	measure(same, 3, 1);
	assert_true(stats.is_deterministic);
	assert_true(stats.differs[COUNTED_PEAK_RSS]);
	measure(other, 3, 1);
	assert_false(stats.is_deterministic);
	assert_true(stats.differs[COUNTED_ALLOCATIONS]);
	assert_false(stats.differs[CALL_MALLOC]);
	measure(same, 1, 1);
	assert_false(stats.is_deterministic);
}

static void the_median_is_the_middle_value(void **state)
{
	const uint64_t odd[] = { 9, 1, 5 }, even[] = { 9, 1, 5, 6 };
	const struct spread *spread = &stats.figures[COUNTED_ALLOCATIONS];

	(void)state;
	measure(odd, 3, 1);
	assert_int_equal(spread->median, 5000);
	assert_int_equal(spread->min, 1000);
	assert_int_equal(spread->max, 9000);
	measure(even, 4, 1);
	assert_int_equal(spread->median, 5500);
}

static void counts_per_iteration_are_exact_or_rounded_up(void **state)
{
	const uint64_t one[] = { 1250 }, large[] = { UINT64_C(1) << 62 };
	const struct spread *spread = &stats.figures[COUNTED_ALLOCATIONS];

	(void)state;
	measure(one, 1, 1000);
	assert_int_equal(spread->median, 1250);
	assert_false(stats.is_rounded);
	measure(one, 1, 7);
	assert_int_equal(spread->median, 178572);
	assert_true(stats.is_rounded);
	/* peak Rss is a level, so it is not divided by the iterations */
	assert_int_equal(stats.figures[COUNTED_PEAK_RSS].median, 4096000);
	measure(large, 1, 1);
	assert_int_equal(spread->median, BYTES_UNKNOWN);
	measure(large, 1, 1000000000);
	assert_int_equal(spread->median, UINT64_C(4611686018428));
}

static void a_figure_that_one_run_lacks_is_unknown(void **state)
{
	const uint64_t two[] = { 5, BYTES_UNKNOWN };
	struct count_limit limit = { .figure = COUNTED_ALLOCATIONS,
				     .value_thousandths = 3 };

	(void)state;
	measure(two, 2, 1);
	assert_int_equal(stats.figures[COUNTED_ALLOCATIONS].median, BYTES_UNKNOWN);
	assert_int_equal(check(LIMIT_AT_MOST, 5000, 0, false), LIMIT_UNKNOWN);
	assert_int_equal(count_limit_update(&limit, &stats), -ENODATA);
	assert_int_equal(limit.value_thousandths, 3);
}

static void a_limit_is_broken_only_above_its_value(void **state)
{
	const uint64_t three[] = { 100, 110, 90 };

	(void)state;
	measure(three, 3, 1);
	assert_int_equal(check(LIMIT_AT_MOST, 100000, 0, false), LIMIT_KEPT);
	assert_int_equal(check(LIMIT_AT_MOST, 99999, 0, false), LIMIT_ABOVE);
	assert_int_equal(check(LIMIT_AT_MOST, 99000, 1000, false), LIMIT_KEPT);
	assert_int_equal(check(LIMIT_AT_MOST, 99000, 999, false), LIMIT_ABOVE);
	assert_int_equal(check(LIMIT_AT_MOST, 99000, 2000, true), LIMIT_KEPT);
	assert_int_equal(check(LIMIT_AT_MOST, 99000, 1000, true), LIMIT_ABOVE);
	assert_int_equal(check(LIMIT_AT_MOST, 0, 1000, true), LIMIT_ABOVE);
	assert_int_equal(check(LIMIT_AT_MOST, 115000, 0, false), LIMIT_KEPT);
	assert_int_equal(check(LIMIT_AT_MOST, 120000, 0, false), LIMIT_LOOSE);
}

static void a_baseline_is_broken_above_and_below_its_value(void **state)
{
	const uint64_t one[] = { 100 };

	(void)state;
	measure(one, 1, 1);
	assert_int_equal(check(LIMIT_EQUAL, 100000, 0, false), LIMIT_KEPT);
	assert_int_equal(check(LIMIT_EQUAL, 99999, 0, false), LIMIT_ABOVE);
	assert_int_equal(check(LIMIT_EQUAL, 100001, 0, false), LIMIT_BELOW);
	assert_int_equal(check(LIMIT_EQUAL, 103000, 3000, true), LIMIT_KEPT);
	assert_int_equal(check(LIMIT_EQUAL, 200000, 3000, true), LIMIT_BELOW);
	assert_int_equal(check(LIMIT_EQUAL, UINT64_MAX / 4, UINT64_MAX / 4, true),
			 LIMIT_KEPT);
}

static void updates_set_limits_to_the_maximum_and_baselines_to_the_median(void **state)
{
	const uint64_t three[] = { 100, 110, 90 };
	struct count_limit limit = { COUNTED_ALLOCATIONS, LIMIT_AT_MOST, 1, 2, true };

	(void)state;
	measure(three, 3, 1);
	assert_int_equal(count_limit_update(&limit, &stats), 0);
	assert_int_equal(limit.value_thousandths, 110000);
	assert_int_equal(limit.tolerance_thousandths, 2);
	limit.kind = LIMIT_EQUAL;
	assert_int_equal(count_limit_update(&limit, &stats), 0);
	assert_int_equal(limit.value_thousandths, 100000);
}

static void figures_are_found_by_their_column_names(void **state)
{
	enum counted_figure figure = COUNTED_COUNT_;

	(void)state;
	assert_int_equal(counted_figure_find("allocations", 11, &figure), 0);
	assert_int_equal(figure, COUNTED_ALLOCATIONS);
	assert_int_equal(counted_figure_find("allocation_calls", 16, &figure), 0);
	assert_int_equal(counted_figure_find("malloc_calls and", 12, &figure), 0);
	assert_int_equal(figure, CALL_MALLOC);
	assert_int_equal(counted_figure_find("malloc", 6, &figure), -EINVAL);
	assert_int_equal(counted_figure_find("", 0, &figure), -EINVAL);
	assert_int_equal(figure, CALL_MALLOC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_runs_are_deterministic_whatever_their_rss),
		cmocka_unit_test(the_median_is_the_middle_value),
		cmocka_unit_test(counts_per_iteration_are_exact_or_rounded_up),
		cmocka_unit_test(a_figure_that_one_run_lacks_is_unknown),
		cmocka_unit_test(a_limit_is_broken_only_above_its_value),
		cmocka_unit_test(a_baseline_is_broken_above_and_below_its_value),
		cmocka_unit_test(
			updates_set_limits_to_the_maximum_and_baselines_to_the_median),
		cmocka_unit_test(figures_are_found_by_their_column_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
