/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/growth/timeline.h"

#include <string.h>

#include "base/units.h"
#include "../../support/unit.h"

static struct timeline_row row_of(uint64_t ms, uint64_t total)
{
	struct timeline_row row = { .unix_ms = ms, .total_bytes = total };

	row.values[0] = total + 1;
	return row;
}

static void add(struct timeline *t, uint64_t ms, uint64_t total)
{
	const struct timeline_row row = row_of(ms, total);

	timeline_add(t, &row);
}

static bool has(const struct timeline *t, uint64_t ms, uint64_t total)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->rows[i].unix_ms == ms && t->rows[i].total_bytes == total)
			return true;
	return false;
}

static void assert_rising(const struct timeline *t)
{
	for (size_t i = 1; i < t->count; i++)
		assert_true(t->rows[i - 1].unix_ms <= t->rows[i].unix_ms);
}

static void few_rows_are_all_kept(void **state)
{
	struct timeline t;

	(void)state;
	timeline_init(&t, 1000, 100000);
	for (uint64_t i = 0; i < 50; i++)
		add(&t, 1000 + i * 2000, 7 * i % 13);
	timeline_end(&t);
	assert_int_equal(t.count, 50);
	for (uint64_t i = 0; i < 50; i++)
		assert_true(has(&t, 1000 + i * 2000, 7 * i % 13));
	assert_rising(&t);
	timeline_release(&t);
}

static void a_day_keeps_extremes_and_ends_in_a_bounded_number_of_rows(void **state)
{
	const uint64_t begin = UINT64_C(1795219200000), end = begin + 86399 * 1000;
	struct timeline t;

	(void)state;
	timeline_init(&t, begin, end);
	for (uint64_t s = 0; s < 86400; s++)
		add(&t, begin + s * 1000,
		    s == 40000	 ? 5000
		    : s == 70001 ? 3
				 : 1000 + s % 7);
	timeline_end(&t);
	assert_true(t.count > 300 && t.count <= TIMELINE_ROWS_MAX);
	assert_true(has(&t, begin, 1000));
	assert_true(has(&t, begin + 40000 * 1000, 5000));
	assert_true(has(&t, begin + 70001 * 1000, 3));
	assert_true(has(&t, end, 1000 + 86399 % 7));
	assert_int_equal(t.peak.values[0], 5001);
	assert_rising(&t);
	/* the last ten seconds are kept sample by sample */
	for (uint64_t s = 86390; s < 86400; s++)
		assert_true(has(&t, begin + s * 1000, 1000 + s % 7));
	timeline_release(&t);
}

static void a_gap_is_kept_between_the_samples_around_it(void **state)
{
	struct timeline t;

	(void)state;
	timeline_init(&t, 0, 1000000);
	timeline_add_gap(&t, 1); /* a gap before the first sample is ignored */
	assert_int_equal(t.count, 0);
	for (uint64_t i = 1; i < 10; i++)
		add(&t, i, 5 + i);
	timeline_add_gap(&t, 9);
	for (uint64_t i = 500; i < 510; i++)
		add(&t, i, 50);
	timeline_end(&t);
	assert_rising(&t);
	assert_true(has(&t, 9, 14) && has(&t, 9, BYTES_UNKNOWN) && has(&t, 500, 50));
	assert_true(has(&t, 509, 50));
	timeline_release(&t);
}

static void many_gaps_are_bounded_too(void **state)
{
	struct timeline t;

	(void)state;
	timeline_init(&t, 1000, 1000 + 86400);
	for (uint64_t i = 0; i < 86400; i++) {
		add(&t, 1000 + i, 5 + i % 11);
		timeline_add_gap(&t, 1000 + i);
	}
	timeline_end(&t);
	assert_true(t.count > 480 && t.count <= 2 * TIMELINE_ROWS_MAX + 480);
	assert_rising(&t);
	timeline_release(&t);
}

static void time_does_not_advance_while_the_clock_is_set_back(void **state)
{
	struct timeline t;

	(void)state;
	timeline_init(&t, 1000, 1000);
	add(&t, 1000, 5);
	add(&t, 400, 6);
	add(&t, 900000, 7);
	timeline_end(&t);
	assert_rising(&t);
	assert_true(has(&t, 1000, 6));
	assert_int_equal(t.rows[t.count - 1].total_bytes, 7);
	timeline_release(&t);
}

static void without_samples_there_are_no_rows(void **state)
{
	struct timeline t;

	(void)state;
	timeline_init(&t, 5, 3);
	timeline_end(&t);
	assert_int_equal(t.count, 0);
	timeline_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_rows_are_all_kept),
		cmocka_unit_test(
			a_day_keeps_extremes_and_ends_in_a_bounded_number_of_rows),
		cmocka_unit_test(a_gap_is_kept_between_the_samples_around_it),
		cmocka_unit_test(many_gaps_are_bounded_too),
		cmocka_unit_test(time_does_not_advance_while_the_clock_is_set_back),
		cmocka_unit_test(without_samples_there_are_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
