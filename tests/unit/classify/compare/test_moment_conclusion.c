/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../../support/unit.h"

#include "base/units.h"
#include "classify/compare/moment_conclusion.h"

static const struct next_place place = { .options = " --replay 'r 1' --at +5s" };

static void the_largest_growth_opens_the_report(void **state)
{
	static const struct process small = { .pid = 5, .comm = "small" };
	static const struct process large = { .pid = 7, .comm = "la\nrge" };
	struct moment_change changes[] = {
		{ .part = PART_TOTAL,
		  .name = "rss",
		  .before = 12 * MIB,
		  .after = 20 * MIB },
		{ .part = PART_TOTAL, .name = "pss", .before = 0, .after = 90 * MIB },
		{ .part = PART_STATE,
		  .name = "private_dirty",
		  .before = 0,
		  .after = 50 * MIB },
		{ .part = PART_OWNER, .name = "live", .before = 0, .after = MIB },
		{ .part = PART_OWNER, .name = "anon", .before = MIB, .after = 8 * MIB },
		{ .part = PART_OWNER, .name = "file", .before = 9 * MIB, .after = 0 },
		{ .part = PART_PROCESS,
		  .name = "small",
		  .before = 0,
		  .after = MIB,
		  .after_process = &small },
		{ .part = PART_PROCESS,
		  .name = "large",
		  .before = 0,
		  .after = 9 * MIB,
		  .after_process = &large },
	};
	const struct moment_diff diff = { changes, ARRAY_SIZE(changes),
					  ARRAY_SIZE(changes) };
	_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;

	(void)state;
	moment_conclude(&c, &diff, &place);
	assert_string_equal(c.text.text,
			    "Rss 12.0M before, 20.0M after (+8.0M). Owner with the "
			    "largest growth: anon (+7.0M). Process with the largest "
			    "growth: la\\x0arge (7, +9.0M).");
	assert_string_equal(c.next.text, "memstate --replay 'r 1' --at +5s -p 7");
}

static void nothing_is_suggested_if_nothing_has_grown(void **state)
{
	static const struct process x = { .pid = 9, .comm = "x" };
	static const struct {
		uint64_t before, after;
		const struct process *before_process, *after_process;
		const char *text;
	} rows[] = {
		{ MIB, MIB, &x, &x, "Rss 1.0M before, 1.0M after (unchanged)." },
		{ 3 * MIB, MIB, &x, &x, "Rss 3.0M before, 1.0M after (-2.0M)." },
		{ BYTES_UNKNOWN, MIB, NULL, &x,
		  "The change in Rss is unknown, because there was no process at the "
		  "first moment." },
		{ MIB, BYTES_UNKNOWN, &x, NULL,
		  "The change in Rss is unknown, because there was no process at the "
		  "second moment." },
		{ BYTES_UNKNOWN, MIB, &x, &x,
		  "The change in Rss is unknown, because Rss is unknown at the first "
		  "moment." },
		{ BYTES_UNKNOWN, BYTES_UNKNOWN, NULL, NULL,
		  "The change in Rss is unknown, because there was no process at "
		  "either moment." },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct moment_change changes[] = {
			{ .part = PART_TOTAL,
			  .name = "rss",
			  .before = rows[i].before,
			  .after = rows[i].after },
			{ .part = PART_PROCESS,
			  .name = "x",
			  .before = MIB,
			  .after = 0,
			  .before_process = rows[i].before_process,
			  .after_process = rows[i].after_process },
		};
		const struct moment_diff diff = { changes, 2, 2 };
		_cleanup_conclusion_ struct conclusion c = CONCLUSION_INIT;

		moment_conclude(&c, &diff, &place);
		assert_string_equal(c.text.text, rows[i].text);
		assert_int_equal(c.next.length, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_growth_opens_the_report),
		cmocka_unit_test(nothing_is_suggested_if_nothing_has_grown),
	};

	return cmocka_run_group_tests_name("moment_conclusion", tests, NULL, NULL);
}
