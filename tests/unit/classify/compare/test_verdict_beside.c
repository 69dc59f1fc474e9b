/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/compare/verdict.h"

#include "base/units.h"
#include "../../support/judged.h"
#include "../../support/unit.h"

static void set_lazyfree(struct judged *f, uint64_t bytes)
{
	for (size_t back = 0; back < 3; back++)
		judged_last_run(f, back)->samples[4].lazyfree_bytes = bytes;
}

static void rss_that_differs_by_lazyfree_alone_is_not_comparable(void **state)
{
	struct made_run lower = kept;
	struct judged f;

	(void)state;
	lower.settled = 26 * MIB;
	judged_begin(&f);
	judged_add_variant(&f, "jemalloc", kept, 10000);
	set_lazyfree(&f, 40 * MIB);
	judged_add_variant(&f, "glibc", lower, 10000);
	judged_finish(&f);
	assert_verdict(
		&f, "lazyfree-only",
		"Rss is not comparable: only LazyFree differs, which is freed memory that "
		"the kernel reclaims under memory pressure. Without it: jemalloc 26.0M, "
		"glibc 26.0M.");
	assert_null(judged_find_text(&f, "pool-differs"));
	judged_release(&f);
}

static void lazyfree_that_hides_a_difference_is_reported(void **state)
{
	struct judged f;

	(void)state;
	judged_begin(&f);
	judged_add_variant(&f, "glibc", kept, 10000);
	judged_add_variant(&f, "jemalloc", kept, 10000);
	set_lazyfree(&f, 40 * MIB);
	judged_finish(&f);
	assert_verdict(
		&f, "lazyfree-hides",
		"Rss hides a difference: without LazyFree, which is freed "
		"memory that the kernel reclaims under memory pressure, "
		"Rss under jemalloc settles 61% lower than under glibc (26.0M against 66.0M).");
	judged_release(&f);
}

static void with_an_unknown_lazyfree_rss_is_compared(void **state)
{
	struct judged f;

	(void)state;
	judged_begin(&f);
	judged_add_variant(&f, "glibc", kept, 10000);
	set_lazyfree(&f, BYTES_UNKNOWN);
	judged_add_variant(&f, "jemalloc", given_back, 10000);
	set_lazyfree(&f, BYTES_UNKNOWN);
	judged_finish(&f);
	assert_string_equal(f.verdicts.items[0].rule, "pool-differs");
	judged_release(&f);
}

static void a_difference_with_an_unknown_owner_is_reported_as_such(void **state)
{
	const struct made_run unread = { 66 * MIB, 66 * MIB, 33 * MIB, UNREAD };
	struct judged f;

	(void)state;
	judged_begin(&f);
	judged_add_variant(&f, "glibc", kept, 10000);
	judged_add_variant(&f, "mimalloc", unread, 10000);
	judged_finish(&f);
	assert_verdict(
		&f, "lower",
		"Rss under mimalloc settles 50% lower than under glibc (33.0M against 66.0M); "
		"the composition of Rss under mimalloc is unknown.");
	judged_release(&f);
}

static void the_first_variant_is_the_reference(void **state)
{
	struct made_run middle = kept;
	struct judged f;

	(void)state;
	middle.settled = 40 * MIB;
	judged_begin(&f);
	judged_add_variant(&f, "glibc", middle, 10000);
	judged_add_variant(&f, "tcmalloc", kept, 10000);
	judged_add_variant(&f, "jemalloc", given_back, 10000);
	judged_finish(&f);
	assert_verdict(
		&f, "pool-differs",
		"Free memory kept by the allocator differs: Rss under jemalloc settles "
		"85% lower than under glibc (6.0M against 40.0M).");
	judged_release(&f);
	/* If the reference variant is the lowest, it is compared with the highest. */
	judged_begin(&f);
	judged_add_variant(&f, "jemalloc", given_back, 10000);
	judged_add_variant(&f, "glibc", middle, 10000);
	judged_add_variant(&f, "tcmalloc", kept, 10000);
	judged_finish(&f);
	assert_verdict(
		&f, "pool-differs",
		"Free memory kept by the allocator differs: Rss under jemalloc settles "
		"91% lower than under tcmalloc (6.0M against 66.0M).");
	judged_release(&f);
}

static void a_lower_peak_is_reported(void **state)
{
	struct made_run lower = steady;
	struct judged f;

	(void)state;
	lower.peak = 99 * MIB;
	judged_two(&f, lower, steady, 10000);
	assert_verdict(
		&f, "peak-lower",
		"Rss under jemalloc peaks 33% lower than under glibc (66.0M against 99.0M).");
	judged_release(&f);
}

static void set_cpu(struct judged *f, uint64_t ms)
{
	for (size_t back = 0; back < 3; back++)
		judged_last_run(f, back)->user_ns = (ms - 100) * NS_PER_MS;
}

static void the_cost_of_using_less_memory_is_reported(void **state)
{
	struct judged f;

	(void)state;
	judged_begin(&f);
	judged_add_variant(&f, "glibc", kept, 10000);
	set_cpu(&f, 1000);
	judged_add_variant(&f, "jemalloc", given_back, 10000);
	set_cpu(&f, 1300);
	judged_finish(&f);
	assert_string_equal(f.verdicts.items[0].rule, "pool-differs");
	assert_also(&f, "cpu",
		    "jemalloc takes 30% more CPU time than glibc (1.3s against 1.0s).");
	judged_release(&f);
}

static void a_difference_in_cpu_time_alone_is_reported(void **state)
{
	struct judged f;

	(void)state;
	judged_begin(&f);
	judged_add_variant(&f, "glibc", steady, 10000);
	set_cpu(&f, 1000);
	judged_add_variant(&f, "mimalloc", steady, 10000);
	set_cpu(&f, 800);
	judged_finish(&f);
	assert_verdict(
		&f, "cpu",
		"Memory use does not differ; mimalloc takes 20% less CPU time than glibc (800.0ms "
		"against 1.0s).");
	judged_release(&f);
	/* 40 ms do not count as a difference, whatever the percentage */
	judged_begin(&f);
	judged_add_variant(&f, "glibc", steady, 10000);
	set_cpu(&f, 150);
	judged_add_variant(&f, "mimalloc", steady, 10000);
	set_cpu(&f, 110);
	judged_finish(&f);
	assert_string_equal(f.verdicts.items[0].rule, "no-difference");
	judged_release(&f);
}

static void one_good_run_is_too_few(void **state)
{
	struct judged f;

	(void)state;
	judged_begin(&f);
	judged_add_variant(&f, "glibc", kept, 10000);
	judged_add_variant(&f, "jemalloc", given_back, 10000);
	judged_last_run(&f, 0)->problem = judged_last_run(&f, 1)->problem =
		"the command failed";
	judged_finish(&f);
	assert_verdict(
		&f, "too-few-runs",
		"No verdict: this requires at least two variants with 2 good runs each; jemalloc has "
		"1 good run of 3 (the command failed).");
	assert_int_equal(f.verdicts.count, 1);
	judged_release(&f);
}

static void a_single_variant_has_no_verdict(void **state)
{
	struct judged f;

	(void)state;
	judged_begin(&f);
	judged_add_variant(&f, "glibc", kept, 10000);
	judged_finish(&f);
	assert_verdict(
		&f, "too-few-runs",
		"No verdict: this requires at least two variants with 2 good runs each; glibc has 3 "
		"good runs of 3.");
	judged_release(&f);
}

static void a_variant_with_too_few_runs_is_left_out(void **state)
{
	struct judged f;

	(void)state;
	judged_begin(&f);
	judged_add_variant(&f, "glibc", steady, 10000);
	judged_add_variant(&f, "tcmalloc", given_back, 10000);
	for (size_t back = 0; back < 3; back++)
		judged_last_run(&f, back)->problem = "the command failed";
	judged_add_variant(&f, "jemalloc", steady, 10000);
	judged_finish(&f);
	assert_string_equal(f.verdicts.items[0].rule, "no-difference");
	assert_also(
		&f, "left-out",
		"tcmalloc has 0 good runs of 3 (the command failed): excluded from the verdict.");
	judged_release(&f);
}

static void runs_that_differ_much_are_reported(void **state)
{
	struct judged f;

	(void)state;
	judged_begin(&f);
	judged_add_variant(&f, "glibc", steady, 9 * MIB);
	judged_add_variant(&f, "jemalloc", steady, 8 * MIB);
	judged_finish(&f);
	assert_also(&f, "wide-spread",
		    "glibc: Rss varies widely between runs; use more --runs.");
	judged_release(&f);
}

static void without_samples_peaks_and_times_are_compared(void **state)
{
	struct judged f;

	(void)state;
	judged_begin(&f);
	for (size_t v = 0; v < 2; v++) {
		made_add_variant(&f.c, v ? "jemalloc" : "glibc", ALLOCATOR_GLIBC);
		for (size_t i = 0; i < 3; i++)
			made_add_run(&f.c)->peak_rss_bytes = (v ? 10 : 20) * MIB;
	}
	judged_finish(&f);
	assert_verdict(
		&f, "peak-lower",
		"Rss under jemalloc peaks 50% lower than under glibc (10.0M against 20.0M).");
	judged_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rss_that_differs_by_lazyfree_alone_is_not_comparable),
		cmocka_unit_test(lazyfree_that_hides_a_difference_is_reported),
		cmocka_unit_test(with_an_unknown_lazyfree_rss_is_compared),
		cmocka_unit_test(a_difference_with_an_unknown_owner_is_reported_as_such),
		cmocka_unit_test(the_first_variant_is_the_reference),
		cmocka_unit_test(a_lower_peak_is_reported),
		cmocka_unit_test(the_cost_of_using_less_memory_is_reported),
		cmocka_unit_test(a_difference_in_cpu_time_alone_is_reported),
		cmocka_unit_test(one_good_run_is_too_few),
		cmocka_unit_test(a_single_variant_has_no_verdict),
		cmocka_unit_test(a_variant_with_too_few_runs_is_left_out),
		cmocka_unit_test(runs_that_differ_much_are_reported),
		cmocka_unit_test(without_samples_peaks_and_times_are_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
