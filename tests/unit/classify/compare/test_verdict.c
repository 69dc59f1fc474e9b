/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/compare/verdict.h"

#include "base/units.h"
#include "../../support/judged.h"
#include "../../support/unit.h"

static void live_memory_that_always_grows_is_not_the_allocators_fault(void **state)
{
	struct judged f;

	(void)state;
	judged_two(&f, leaking, leaking, 10000);
	assert_verdict(&f, "live-same",
		       "No allocator helps: live memory grows equally under all of "
		       "them (glibc 64.0M, jemalloc 64.0M). Try 'memstate leaks' and "
		       "'memstate count'.");
	assert_also(
		&f, "no-difference",
		"No difference exceeds the spread of the runs: Rss settles at glibc 66.0M, "
		"jemalloc 66.0M.");
	assert_int_equal(f.verdicts.count, 2);
	judged_release(&f);
}

static void constant_live_memory_is_not_growth(void **state)
{
	struct judged f;

	(void)state;
	judged_two(&f, steady, steady, 10000);
	assert_verdict(
		&f, "no-difference",
		"No difference exceeds the spread of the runs: Rss settles at glibc 66.0M, "
		"jemalloc 66.0M.");
	assert_int_equal(f.verdicts.count, 1);
	judged_release(&f);
}

/* 10 % of 66 MiB in the second half count as growth; slightly less does not. */
static void growth_means_a_tenth_or_more_in_the_second_half(void **state)
{
	const uint64_t growths[] = { 67 * MIB / 10, 65 * MIB / 10 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(growths); i++) {
		struct made_run run = steady;
		struct judged f;

		run.half = run.live_half = 66 * MIB - growths[i];
		judged_two(&f, run, run, 10000);
		assert_string_equal(f.verdicts.items[0].rule,
				    i == 0 ? "live-same" : "no-difference");
		judged_release(&f);
	}
}

/* At most half of the growth may be pool. */
static void a_growing_pool_is_not_live_memory(void **state)
{
	const uint64_t live[] = { 50 * MIB, 49 * MIB };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(live); i++) {
		struct made_run run = leaking;
		struct judged f;

		run.live_half = run.half;
		run.live_peak = run.live_settled = live[i];
		judged_two(&f, run, run, 0);
		assert_string_equal(f.verdicts.items[0].rule,
				    i == 0 ? "live-same" : "no-difference");
		judged_release(&f);
	}
}

static void a_difference_in_live_memory_is_reported(void **state)
{
	struct made_run half = leaking;
	struct judged f;

	(void)state;
	half.half = 17 * MIB;
	half.peak = half.settled = 33 * MIB;
	half.live_half = 16 * MIB;
	half.live_peak = half.live_settled = 32 * MIB;
	judged_two(&f, leaking, half, 10000);
	assert_verdict(
		&f, "lower",
		"Rss under jemalloc settles 50% lower than under glibc (33.0M against 66.0M); "
		"the owner with the largest difference is live.");
	assert_also(&f, "live-grows",
		    "Live memory grows under all allocators, so no other allocator "
		    "helps. Try 'memstate leaks' and 'memstate count'.");
	assert_null(judged_find_text(&f, "live-same"));
	judged_release(&f);
}

static void a_variant_with_an_unread_heap_is_named(void **state)
{
	const struct made_run unread = { 34 * MIB, 66 * MIB, 66 * MIB, UNREAD };
	struct judged f;

	(void)state;
	judged_begin(&f);
	judged_add_variant(&f, "glibc", leaking, 10000);
	judged_add_variant(&f, "jemalloc", leaking, 10000);
	judged_add_variant(&f, "tcmalloc", unread, 10000);
	for (size_t i = 0; i < 3; i++) {
		struct run *run = judged_last_run(&f, i);

		for (size_t s = 0; s < run->sample_count; s++)
			run->samples[s].heap_problem = "it was too large";
	}
	judged_finish(&f);
	assert_verdict(&f, "live-same",
		       "No allocator helps: live memory grows equally under all of "
		       "them (glibc 64.0M, jemalloc 64.0M; unknown under tcmalloc). "
		       "Try 'memstate leaks' and 'memstate count'.");
	assert_also(&f, "owners-unknown",
		    "After settling, live and free heap memory cannot be "
		    "distinguished under tcmalloc: both are in anon. Heap not read "
		    "under tcmalloc: it was too large.");
	judged_release(&f);
}

static void growth_with_an_unknown_owner_is_reported_as_such(void **state)
{
	const struct made_run unread = { 34 * MIB, 66 * MIB, 66 * MIB, UNREAD };
	struct judged f;

	(void)state;
	judged_begin(&f);
	judged_add_variant(&f, "glibc", leaking, 10000);
	judged_add_variant(&f, "tcmalloc", unread, 10000);
	judged_finish(&f);
	assert_verdict(&f, "rss-grows",
		       "Rss grows under all allocators; it is unknown whether live "
		       "memory grows under tcmalloc.");
	judged_release(&f);
}

static void a_pool_that_only_one_variant_keeps_is_the_difference(void **state)
{
	struct judged f;

	(void)state;
	judged_two(&f, kept, given_back, 10000);
	assert_verdict(
		&f, "pool-differs",
		"Free memory kept by the allocator differs: Rss under jemalloc settles "
		"91% lower than under glibc (6.0M against 66.0M).");
	assert_null(judged_find_text(&f, "no-difference"));
	judged_release(&f);
}

static void a_difference_within_the_spreads_is_ignored(void **state)
{
	struct made_run lower = kept;
	struct judged f;

	(void)state;
	lower.settled -= 12 * MIB;
	judged_begin(&f);
	/* each spread is 6 MiB from lowest to highest: as much as the medians differ */
	judged_add_variant(&f, "glibc", kept, 3 * MIB);
	judged_add_variant(&f, "jemalloc", lower, 3 * MIB);
	judged_finish(&f);
	assert_string_equal(f.verdicts.items[0].rule, "no-difference");
	judged_release(&f);
	/* a spread that is slightly smaller */
	judged_begin(&f);
	judged_add_variant(&f, "glibc", kept, 3 * MIB - 4096);
	judged_add_variant(&f, "jemalloc", lower, 3 * MIB - 4096);
	judged_finish(&f);
	assert_string_equal(f.verdicts.items[0].rule, "pool-differs");
	judged_release(&f);
}

static void a_difference_below_five_percent_is_ignored(void **state)
{
	const uint64_t apart[] = { 32 * MIB / 10, 34 * MIB / 10 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(apart); i++) {
		struct made_run lower = kept;
		struct judged f;

		lower.settled -= apart[i];
		judged_two(&f, kept, lower, 0);
		assert_string_equal(f.verdicts.items[0].rule,
				    i == 0 ? "no-difference" : "pool-differs");
		judged_release(&f);
	}
}

static void with_only_two_runs_the_spread_counts_three_times(void **state)
{
	struct made_run lower = kept;

	(void)state;
	/* 4 MiB apart, with a spread of 1 MiB each */
	lower.settled -= 4 * MIB;
	for (unsigned int failed = 0; failed < 2; failed++) {
		struct judged f;

		judged_begin(&f);
		judged_add_variant(&f, "glibc", kept, MIB / 2);
		judged_last_run(&f, 2)->problem = failed ? "it failed" : NULL;
		judged_add_variant(&f, "jemalloc", lower, MIB / 2);
		judged_last_run(&f, 2)->problem = failed ? "it failed" : NULL;
		judged_finish(&f);
		assert_string_equal(f.verdicts.items[0].rule,
				    failed ? "no-difference" : "pool-differs");
		judged_release(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			live_memory_that_always_grows_is_not_the_allocators_fault),
		cmocka_unit_test(constant_live_memory_is_not_growth),
		cmocka_unit_test(growth_means_a_tenth_or_more_in_the_second_half),
		cmocka_unit_test(a_growing_pool_is_not_live_memory),
		cmocka_unit_test(a_difference_in_live_memory_is_reported),
		cmocka_unit_test(a_variant_with_an_unread_heap_is_named),
		cmocka_unit_test(growth_with_an_unknown_owner_is_reported_as_such),
		cmocka_unit_test(a_pool_that_only_one_variant_keeps_is_the_difference),
		cmocka_unit_test(a_difference_within_the_spreads_is_ignored),
		cmocka_unit_test(a_difference_below_five_percent_is_ignored),
		cmocka_unit_test(with_only_two_runs_the_spread_counts_three_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
