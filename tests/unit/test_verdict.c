/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/verdict.h"

#include "base/units.h"
#include "judged.h"
#include "unit.h"

static void live_memory_that_grows_under_all_is_beyond_an_allocator(void **state)
{
	struct judged f;

	(void)state;
	judged_two(&f, leaking, leaking, 10000);
	assert_verdict(&f, "live-same",
		       "The allocator cannot help: live memory grows the same under all "
		       "(glibc 64.0M, jemalloc 64.0M). Look at 'memstate leaks' and 'memstate "
		       "count'.");
	assert_also(&f, "no-difference",
		    "No difference above the spread of the runs: Rss settles at glibc 66.0M, "
		    "jemalloc 66.0M.");
	assert_int_equal(f.verdicts.count, 2);
	judged_release(&f);
}

static void live_memory_that_stays_is_no_growth(void **state)
{
	struct judged f;

	(void)state;
	judged_two(&f, steady, steady, 10000);
	assert_verdict(&f, "no-difference",
		       "No difference above the spread of the runs: Rss settles at glibc 66.0M, "
		       "jemalloc 66.0M.");
	assert_int_equal(f.verdicts.count, 1);
	judged_release(&f);
}

/* 10 % of 66 MiB in the second half count as growth; slightly less does not. */
static void growth_begins_at_a_tenth_in_the_second_half(void **state)
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
static void a_pool_that_grows_is_no_live_memory(void **state)
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

static void live_memory_that_only_one_variant_keeps_is_not_the_same(void **state)
{
	struct made_run half = leaking;
	struct judged f;

	(void)state;
	half.half = 17 * MIB;
	half.peak = half.settled = 33 * MIB;
	half.live_half = 16 * MIB;
	half.live_peak = half.live_settled = 32 * MIB;
	judged_two(&f, leaking, half, 10000);
	assert_verdict(&f, "lower",
		       "jemalloc settles 50% lower than glibc (33.0M against 66.0M), most of it "
		       "live.");
	assert_also(&f, "live-grows",
		    "Live memory grows under all, and no allocator can help with that. Look at "
		    "'memstate leaks' and 'memstate count'.");
	assert_null(judged_find_text(&f, "live-same"));
	judged_release(&f);
}

static void a_variant_whose_heap_is_not_read_is_named(void **state)
{
	const struct made_run unread = { 34 * MIB, 66 * MIB, 66 * MIB, UNREAD };
	struct judged f;

	(void)state;
	judged_begin(&f);
	judged_add_variant(&f, "glibc", leaking, 10000);
	judged_add_variant(&f, "jemalloc", leaking, 10000);
	judged_add_variant(&f, "tcmalloc", unread, 10000);
	judged_finish(&f);
	assert_verdict(&f, "live-same",
		       "The allocator cannot help: live memory grows the same under all "
		       "(glibc 64.0M, jemalloc 64.0M; unknown under tcmalloc). Look at 'memstate "
		       "leaks' and 'memstate count'.");
	assert_also(&f, "owners-unknown",
		    "Where Rss settles, live memory and pool cannot be told apart under tcmalloc: both are in "
		    "anon.");
	judged_release(&f);
}

static void growth_whose_owner_is_unknown_is_said_to_be(void **state)
{
	const struct made_run unread = { 34 * MIB, 66 * MIB, 66 * MIB, UNREAD };
	struct judged f;

	(void)state;
	judged_begin(&f);
	judged_add_variant(&f, "glibc", leaking, 10000);
	judged_add_variant(&f, "tcmalloc", unread, 10000);
	judged_finish(&f);
	assert_verdict(&f, "rss-grows",
		       "Rss grows under all; whether that is live memory is unknown under "
		       "tcmalloc.");
	judged_release(&f);
}

static void pool_that_one_keeps_and_another_gives_back_is_what_differs(void **state)
{
	struct judged f;

	(void)state;
	judged_two(&f, kept, given_back, 10000);
	assert_verdict(&f, "pool-differs",
		       "Pool and fragments differ: jemalloc settles 91% lower than glibc (6.0M "
		       "against 66.0M).");
	assert_null(judged_find_text(&f, "no-difference"));
	judged_release(&f);
}

static void a_difference_within_the_spreads_is_none(void **state)
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

static void a_difference_below_five_percent_is_none(void **state)
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

static void of_two_runs_the_spread_counts_three_times(void **state)
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
		cmocka_unit_test(live_memory_that_grows_under_all_is_beyond_an_allocator),
		cmocka_unit_test(live_memory_that_stays_is_no_growth),
		cmocka_unit_test(growth_begins_at_a_tenth_in_the_second_half),
		cmocka_unit_test(a_pool_that_grows_is_no_live_memory),
		cmocka_unit_test(live_memory_that_only_one_variant_keeps_is_not_the_same),
		cmocka_unit_test(a_variant_whose_heap_is_not_read_is_named),
		cmocka_unit_test(growth_whose_owner_is_unknown_is_said_to_be),
		cmocka_unit_test(pool_that_one_keeps_and_another_gives_back_is_what_differs),
		cmocka_unit_test(a_difference_within_the_spreads_is_none),
		cmocka_unit_test(a_difference_below_five_percent_is_none),
		cmocka_unit_test(of_two_runs_the_spread_counts_three_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
