/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/process/growth_words.h"

#include <string.h>

#include "../../support/unit.h"

static const struct {
	struct growth growth;
	const char *words;
} cases[] = {
	{ { .kind = GROWTH_TOO_SHORT, .missing_count = 1 },
	  "too soon to tell: 1 more sample is needed" },
	{ { .kind = GROWTH_TOO_SHORT, .missing_count = 5 },
	  "too soon to tell: 5 more samples are needed" },
	{ { .kind = GROWTH_TOO_SHORT,
	    .floor_count = 4,
	    .cycle_ns = 400 * NS_PER_S,
	    .missing_ns = 900 * NS_PER_S },
	  "too soon to tell: the samples cover 4 of the 6 cycles (6m40s each) "
	  "that are needed; sample for 15m00s more" },
	{ { .kind = GROWTH_TOO_SHORT },
	  "too soon to tell: samples at different times are needed" },
	{ { .kind = GROWTH_BRIEF,
	    .missing_ns = 12 * NS_PER_S,
	    .window_ns = NS_PER_S,
	    .rate_bytes = 2048,
	    .rate_low_bytes = 1024,
	    .rate_high_bytes = 4096 },
	  "too soon to tell: sample for 12.0s more; the lowest value in each 1.0s "
	  "changes by +2.0K/h (+1.0K/h to +4.0K/h)" },
	{ { .kind = GROWTH_STEP }, "one step: most of the rise was a single jump" },
	{ { .kind = GROWTH_PLATEAU },
	  "plateau: it rose earlier, and has almost stopped rising" },
	{ { .kind = GROWTH_NONE,
	    .window_ns = 60 * NS_PER_S,
	    .rate_low_bytes = -1024,
	    .rate_high_bytes = 2048 },
	  "no growth: the lowest value in each 1m00s changes by 0K/h (-1.0K/h to "
	  "+2.0K/h)" },
	{ { .kind = GROWTH_FALLING,
	    .window_ns = 60 * NS_PER_S,
	    .rate_bytes = -2048,
	    .rate_low_bytes = -4096,
	    .rate_high_bytes = -1024 },
	  "falling: the lowest value in each 1m00s changes by -2.0K/h (-4.0K/h to "
	  "-1.0K/h)" },
	{ { .kind = GROWTH_SLOW,
	    .window_ns = 60 * NS_PER_S,
	    .rate_bytes = 2048,
	    .rate_low_bytes = 512,
	    .rate_high_bytes = 4096 },
	  "growing slowly: the lowest value in each 1m00s changes by +2.0K/h "
	  "(+0.500K/h to +4.0K/h)" },
	{ { .kind = GROWTH_STEADY,
	    .cycle_ns = 400 * NS_PER_S,
	    .rate_bytes = 600 * (int64_t)MIB,
	    .rate_low_bytes = 540 * (int64_t)MIB,
	    .rate_high_bytes = 660 * (int64_t)MIB },
	  "growing: the lowest value in each cycle (6m40s) changes by "
	  "+10.0M/min (+9.0M/min to +11.0M/min)" },
};

static void each_kind_of_growth_has_its_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;

		growth_add_words(&words, &cases[i].growth, NULL);
		assert_string_equal(strbuf_text(&words), cases[i].words);
	}
}

static void rates_are_in_the_unit_of_the_report(void **state)
{
	const struct growth growth = { .kind = GROWTH_SLOW,
				       .window_ns = 60 * NS_PER_S,
				       .rate_bytes = 30 * (int64_t)MIB,
				       .rate_low_bytes = 15 * (int64_t)MIB,
				       .rate_high_bytes = 60 * (int64_t)MIB };
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;

	(void)state;
	growth_add_words(&words, &growth, units_find_rate(90 * (int64_t)MIB));
	assert_string_equal(strbuf_text(&words),
			    "growing slowly: the lowest value in each 1m00s changes by "
			    "+0.500M/min (+0.250M/min to +1.0M/min)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_growth_has_its_words),
		cmocka_unit_test(rates_are_in_the_unit_of_the_report),
	};

	return cmocka_run_group_tests_name("growth_words", tests, NULL, NULL);
}
