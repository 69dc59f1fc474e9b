/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../../support/unit.h"

#include "base/units.h"
#include "classify/profile/diff_conclusion.h"

static void totals_and_the_stack_that_grew_most_open_the_report(void **state)
{
	static const struct {
		struct profile_diff_sum total;
		uint64_t grown_before, grown_after;
		enum profile_metric metric;
		const char *text, *next;
	} rows[] = {
		{ { 3, 1000, 1240 },
		  0,
		  300,
		  PROFILE_ALLOCATIONS,
		  "Allocations: 1000 before, 1240 after (+240, +24%). The stack that grew most "
		  "is in an unknown function: +300.",
		  "memstate count --replay 'my file'" },
		{ { 3, 4 * MIB, MIB },
		  5,
		  5,
		  PROFILE_LIVE,
		  "Live bytes: 4.0M before, 1.0M after (-3.0M, -75%). No stack has grown.",
		  "" },
		{ { 3, 0, 7 },
		  9,
		  9,
		  PROFILE_TEMPORARY,
		  "Temporary allocations: 0 before, 7 after (+7). No stack has grown.",
		  "" },
		{ { 3, 7, 7 },
		  1,
		  0,
		  PROFILE_ALLOCATIONS,
		  "Allocations: 7 before and after. No stack has grown.",
		  "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct profile_diff diff = { .total = rows[i].total };
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;

		profile_init(&diff.keys);
		diff.most_grown.before = rows[i].grown_before;
		diff.most_grown.after = rows[i].grown_after;
		diff_conclude(&c, &diff, rows[i].metric, "my file");
		assert_string_equal(c.text.text, rows[i].text);
		assert_string_equal(strbuf_text(&c.next), rows[i].next);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_and_the_stack_that_grew_most_open_the_report),
	};

	return cmocka_run_group_tests_name("diff_conclusion", tests, NULL, NULL);
}
