/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/compare/compare.h"

#include "base/units.h"
#include "base/xalloc.h"
#include "../../support/made_comparison.h"
#include "../../support/unit.h"

static void add_peaks(struct comparison *c, const uint64_t *peaks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		made_add_run(c)->peak_rss_bytes = peaks[i];
}

static void assert_spread(const struct spread *s, uint64_t median, uint64_t min,
			  uint64_t max, size_t run_count)
{
	assert_int_equal(s->median, median);
	assert_int_equal(s->min, min);
	assert_int_equal(s->max, max);
	assert_int_equal(s->run_count, run_count);
}

static void the_median_of_an_odd_number_is_the_middle_one(void **state)
{
	struct comparison c;
	struct compared compared;

	(void)state;
	made_init(&c, "true");
	made_add_variant(&c, "glibc", ALLOCATOR_GLIBC);
	add_peaks(&c, (const uint64_t[]){ 900, 100, 300, 200, 250 }, 5);
	compared_init(&compared, &c);
	assert_spread(&compared.variants[0].figures[FIGURE_PEAK_RSS], 250, 100, 900, 5);
	assert_int_equal(compared.variants[0].good_count, 5);
	compared_release(&compared);
	comparison_release(&c);
}

static void the_median_of_an_even_number_is_the_mean_of_the_middle_two(void **state)
{
	struct comparison c;
	struct compared compared;

	(void)state;
	made_init(&c, "true");
	made_add_variant(&c, "glibc", ALLOCATOR_GLIBC);
	/* near UINT64_MAX: the sum of two would overflow */
	add_peaks(&c,
		  (const uint64_t[]){ UINT64_MAX - 1, UINT64_MAX - 5, 7, UINT64_MAX - 3 },
		  4);
	compared_init(&compared, &c);
	assert_spread(&compared.variants[0].figures[FIGURE_PEAK_RSS], UINT64_MAX - 4, 7,
		      UINT64_MAX - 1, 4);
	compared_release(&compared);
	comparison_release(&c);
}

static void failed_runs_and_warm_ups_are_ignored(void **state)
{
	struct comparison c;
	struct compared compared;

	(void)state;
	made_init(&c, "true");
	made_add_variant(&c, "glibc", ALLOCATOR_GLIBC);
	add_peaks(&c, (const uint64_t[]){ 1, 100, 9999 }, 3);
	c.runs[0].is_warm_up = true;
	c.runs[2].problem = "it failed";
	compared_init(&compared, &c);
	assert_spread(&compared.variants[0].figures[FIGURE_PEAK_RSS], 100, 100, 100, 1);
	assert_int_equal(compared.variants[0].good_count, 1);
	assert_int_equal(compared.variants[0].failed_count, 1);
	assert_string_equal(compared.variants[0].problem, "it failed");
	assert_int_equal(compared.variants[0].typical_run, 1);
	compared_release(&compared);
	comparison_release(&c);
}

static void a_figure_without_runs_is_unknown(void **state)
{
	struct comparison c;
	struct compared compared;

	(void)state;
	made_init(&c, "true");
	made_add_variant(&c, "glibc", ALLOCATOR_GLIBC);
	made_add_variant(&c, "jemalloc", ALLOCATOR_JEMALLOC);
	made_add_run(&c)->above_ns = 5;
	compared_init(&compared, &c);
	assert_spread(&compared.variants[0].figures[FIGURE_WALL], BYTES_UNKNOWN,
		      BYTES_UNKNOWN, BYTES_UNKNOWN, 0);
	assert_true(compared.variants[0].typical_run == SIZE_MAX);
	/* no limit was set, calls were not counted, and there are no samples */
	assert_int_equal(compared.variants[1].figures[FIGURE_ABOVE].run_count, 0);
	assert_int_equal(compared.variants[1].figures[FIGURE_RELEASE_CALLS].run_count, 0);
	assert_int_equal(
		compared.variants[1].figures[FIGURE_AT(MOMENT_END, AMOUNT_RSS)].run_count,
		0);
	compared_release(&compared);
	comparison_release(&c);
}

static void time_above_the_limit_is_known_if_a_limit_is_set(void **state)
{
	struct comparison c;
	struct compared compared;

	(void)state;
	made_init(&c, "true");
	c.above_bytes = MIB;
	made_add_variant(&c, "glibc", ALLOCATOR_GLIBC);
	made_add_run(&c)->above_ns = 5;
	compared_init(&compared, &c);
	assert_int_equal(compared.variants[0].figures[FIGURE_ABOVE].median, 5);
	compared_release(&compared);
	comparison_release(&c);
}

static void owners_come_only_from_runs_with_a_read_heap(void **state)
{
	struct comparison c;
	struct compared compared;
	const struct spread *figures;

	(void)state;
	made_init(&c, "true");
	made_add_variant(&c, "glibc", ALLOCATOR_GLIBC);
	/*
	 * The first run's heap is unknown, so its 10 MiB are in anon. They do not count
	 * as anon of the other runs.
	 */
	made_add_whole_run(&c, &(struct made_run){ MIB, 10 * MIB, 10 * MIB, BYTES_UNKNOWN,
						   BYTES_UNKNOWN, BYTES_UNKNOWN });
	made_add_whole_run(
		&c, &(struct made_run){ MIB, 10 * MIB, 8 * MIB, MIB, 6 * MIB, 5 * MIB });
	made_add_whole_run(
		&c, &(struct made_run){ MIB, 10 * MIB, 8 * MIB, MIB, 6 * MIB, 7 * MIB });
	c.runs[2].samples[4].heap_quality = QUALITY_BOUND;
	compared_init(&compared, &c);
	figures = compared.variants[0].figures;
	assert_spread(&figures[FIGURE_OWNER_AT(MOMENT_SETTLED, OWNER_ANON)], 0, 0, 0, 2);
	assert_spread(&figures[FIGURE_OWNER_AT(MOMENT_SETTLED, OWNER_LIVE)], 6 * MIB,
		      5 * MIB, 7 * MIB, 2);
	assert_spread(&figures[FIGURE_AT(MOMENT_SETTLED, AMOUNT_POOL)], 2 * MIB, MIB,
		      3 * MIB, 2);
	/* Rss does not depend on the heap */
	assert_spread(&figures[FIGURE_AT(MOMENT_SETTLED, AMOUNT_RSS)], 8 * MIB, 8 * MIB,
		      10 * MIB, 3);
	assert_int_equal(compared.variants[0].heap_quality[MOMENT_SETTLED],
			 QUALITY_BOUND);
	assert_int_equal(compared.variants[0].heap_quality[MOMENT_PEAK], QUALITY_EXACT);
	compared_release(&compared);
	comparison_release(&c);
}

static void growth_is_measured_from_mid_run_to_the_end_of_the_work(void **state)
{
	struct comparison c;
	struct run *run;

	(void)state;
	made_init(&c, "true");
	made_add_variant(&c, "glibc", ALLOCATOR_GLIBC);
	run = made_add_whole_run(&c, &(struct made_run){ 5 * MIB, 9 * MIB, 50 * MIB,
							 2 * MIB, 8 * MIB, 40 * MIB });
	/* growth while the program settles does not count */
	assert_int_equal(compare_run_figure(&c, run, FIGURE_RSS_GROWTH), 4 * MIB);
	/* a sample at a tenth of the time is too far from the middle */
	run->samples[1].elapsed_ns = 100 * NS_PER_MS;
	assert_true(compare_run_figure(&c, run, FIGURE_RSS_GROWTH) == BYTES_UNKNOWN);
	comparison_release(&c);
}

static void late_figures_may_be_up_to_a_third_of_the_run_old(void **state)
{
	struct comparison c;
	struct run *run;

	(void)state;
	made_init(&c, "true");
	made_add_variant(&c, "glibc", ALLOCATOR_GLIBC);
	run = made_add_whole_run(&c,
				 &(struct made_run){ 5 * MIB, 9 * MIB, 9 * MIB, 4 * MIB,
						     BYTES_UNKNOWN, BYTES_UNKNOWN });
	assert_true(compare_run_figure(&c, run, FIGURE_LATE_LIVE) == BYTES_UNKNOWN);
	run->samples[1].elapsed_ns = 670 * NS_PER_MS;
	assert_int_equal(compare_run_figure(&c, run, FIGURE_LATE_LIVE), 4 * MIB);
	assert_int_equal(compare_run_figure(&c, run, FIGURE_LATE_POOL), MIB);
	comparison_release(&c);
}

static void the_typical_run_settles_nearest_to_the_median(void **state)
{
	struct comparison c;
	struct compared compared;
	const uint64_t settled[] = { 90 * MIB, 10 * MIB, 21 * MIB, 20 * MIB };

	(void)state;
	made_init(&c, "true");
	made_add_variant(&c, "glibc", ALLOCATOR_GLIBC);
	for (size_t i = 0; i < ARRAY_SIZE(settled); i++)
		made_add_whole_run(&c, &(struct made_run){ 0, 100 * MIB, settled[i],
							   BYTES_UNKNOWN, BYTES_UNKNOWN,
							   BYTES_UNKNOWN });
	c.runs[3].problem = "it failed";
	compared_init(&compared, &c);
	assert_int_equal(compared.variants[0].typical_run, 2);
	compared_release(&compared);
	comparison_release(&c);
}

static void a_run_with_a_read_heap_is_preferred_as_typical(void **state)
{
	const uint64_t settled[] = { 20 * MIB, 30 * MIB, 24 * MIB, 21 * MIB };
	struct comparison c;
	struct compared compared;

	(void)state;
	made_init(&c, "true");
	made_add_variant(&c, "glibc", ALLOCATOR_GLIBC);
	for (size_t i = 0; i < ARRAY_SIZE(settled); i++) {
		uint64_t live = i == 1 || i == 2 ? MIB : BYTES_UNKNOWN;

		made_add_whole_run(&c, &(struct made_run){ 0, 100 * MIB, settled[i], live,
							   live, live });
	}
	compared_init(&compared, &c);
	assert_int_equal(compared.variants[0].typical_run, 2);
	compared_release(&compared);
	comparison_release(&c);
}

static void the_counting_run_affects_only_the_counts(void **state)
{
	struct comparison c;
	struct compared compared;
	struct run *run;

	(void)state;
	made_init(&c, "true");
	made_add_variant(&c, "glibc", ALLOCATOR_GLIBC);
	add_peaks(&c, (const uint64_t[]){ 100, 300 }, 2);
	run = made_add_run(&c);
	run->is_counting = true;
	run->peak_rss_bytes = 9000;
	run->problem = "it does not matter to the others";
	made_add_variant(&c, "jemalloc", ALLOCATOR_JEMALLOC);
	add_peaks(&c, (const uint64_t[]){ 200 }, 1);
	c.counts = xcalloc(2, sizeof(*c.counts));
	c.counts[0] =
		(struct count_sums){ .allocation_calls = 5000, .requested_bytes = 70 };
	c.counts[1].allocation_calls = c.counts[1].requested_bytes = BYTES_UNKNOWN;
	compared_init(&compared, &c);
	assert_spread(&compared.variants[0].figures[FIGURE_PEAK_RSS], 200, 100, 300, 2);
	assert_int_equal(compared.variants[0].failed_count, 0);
	assert_spread(&compared.variants[0].figures[FIGURE_ALLOCATIONS], 5000, 5000, 5000,
		      1);
	assert_spread(&compared.variants[0].figures[FIGURE_REQUESTED], 70, 70, 70, 1);
	/* the other runs took a second each */
	assert_spread(&compared.variants[0].figures[FIGURE_ALLOCATION_RATE], 5000, 5000,
		      5000, 1);
	assert_spread(&compared.variants[1].figures[FIGURE_ALLOCATION_RATE],
		      BYTES_UNKNOWN, BYTES_UNKNOWN, BYTES_UNKNOWN, 0);
	assert_int_equal(compare_run_figure(&c, &c.runs[0], FIGURE_ALLOCATIONS),
			 BYTES_UNKNOWN);
	compared_release(&compared);
	comparison_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_median_of_an_odd_number_is_the_middle_one),
		cmocka_unit_test(
			the_median_of_an_even_number_is_the_mean_of_the_middle_two),
		cmocka_unit_test(failed_runs_and_warm_ups_are_ignored),
		cmocka_unit_test(a_figure_without_runs_is_unknown),
		cmocka_unit_test(time_above_the_limit_is_known_if_a_limit_is_set),
		cmocka_unit_test(owners_come_only_from_runs_with_a_read_heap),
		cmocka_unit_test(growth_is_measured_from_mid_run_to_the_end_of_the_work),
		cmocka_unit_test(late_figures_may_be_up_to_a_third_of_the_run_old),
		cmocka_unit_test(the_typical_run_settles_nearest_to_the_median),
		cmocka_unit_test(a_run_with_a_read_heap_is_preferred_as_typical),
		cmocka_unit_test(the_counting_run_affects_only_the_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
