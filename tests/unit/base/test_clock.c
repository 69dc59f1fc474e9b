/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/clock.h"

#include <errno.h>

#include "../support/unit.h"

#define START UINT64_C(1000000)

static void times_are_formatted_as_rfc_3339_in_utc(void **state)
{
	static const struct {
		uint64_t unix_ms;
		const char *text;
	} rows[] = {
		{ 0, "1970-01-01T00:00:00.000Z" },
		{ 1, "1970-01-01T00:00:00.001Z" },
		{ UINT64_C(951782400999), "2000-02-29T00:00:00.999Z" },
		{ UINT64_C(1795248930250), "2026-11-21T08:15:30.250Z" },
		{ UINT64_C(4102444799000), "2099-12-31T23:59:59.000Z" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char buf[CLOCK_TEXT_SIZE];

		assert_string_equal(clock_format_utc(rows[i].unix_ms, buf), rows[i].text);
	}
}

static void sample_k_is_due_k_intervals_after_the_start(void **state)
{
	struct schedule s;

	(void)state;
	schedule_init(&s, START, 100);
	for (uint64_t k = 0; k < 50; k++) {
		assert_true(schedule_due_ns(&s) == START + k * 100);
		/*
		 * Each sample is a little late, but the delay does not
		 * carry over to the next.
		 */
		assert_true(schedule_advance(&s, schedule_due_ns(&s) + 99) == 0);
	}
	assert_true(s.missed_count == 0);
}

static void a_late_sample_is_not_followed_by_a_burst(void **state)
{
	struct schedule s;

	(void)state;
	schedule_init(&s, START, 100);
	assert_true(schedule_advance(&s, START) == 0);
	/* due at +100, taken at +730: the samples from +200 to +700 were missed */
	assert_true(schedule_advance(&s, START + 730) == 6);
	assert_true(s.missed_count == 6);
	assert_true(schedule_due_ns(&s) == START + 800);
	assert_true(schedule_advance(&s, START + 800) == 0);
	assert_true(schedule_due_ns(&s) == START + 900);
}

static void a_sample_taken_a_whole_interval_late_misses_one(void **state)
{
	struct schedule s;

	(void)state;
	schedule_init(&s, START, 100);
	assert_true(schedule_advance(&s, START + 100) == 1);
	assert_true(schedule_due_ns(&s) == START + 200);
}

static void an_early_sample_counts_as_the_due_one(void **state)
{
	struct schedule s;

	(void)state;
	schedule_init(&s, START, 100);
	assert_true(schedule_advance(&s, START - 5) == 0);
	assert_true(schedule_due_ns(&s) == START + 100);
}

static void a_new_interval_starts_immediately(void **state)
{
	struct schedule s;

	(void)state;
	schedule_init(&s, START, 100);
	schedule_advance(&s, START + 250);
	schedule_set_interval(&s, START + 260, 1000);
	assert_true(schedule_due_ns(&s) == START + 1260);
	assert_true(s.missed_count == 2); /* earlier misses stay counted */
}

/*
 * "-i 5000h" on a machine that has been up for some time: the next sample
 * must not be due in the past.
 */
static void an_interval_past_the_end_of_the_clock_is_never_due(void **state)
{
	struct schedule s;

	(void)state;
	schedule_init(&s, START, UINT64_MAX - START / 2);
	schedule_advance(&s, START);
	assert_true(schedule_due_ns(&s) == UINT64_MAX);
	schedule_init(&s, START, UINT64_MAX / 2);
	s.next = 3;
	assert_true(schedule_due_ns(&s) == UINT64_MAX);
}

static void formatted_times_can_be_parsed(void **state)
{
	static const char *const bad[] = {
		"",
		"noon",
		"2026-11-21",
		"2026-11-21T08:15:30",
		"2026-11-21T08:15:30.Z",
		"2026-11-21T08:15:30.1234Z",
		"2026-11-21T08:15:30Zulu",
		"2026-13-21T08:15:30Z",
		"1905-11-21T08:15:30Z",
	};
	uint64_t unix_ms = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(clock_parse_utc(bad[i], &unix_ms), -EINVAL);
	assert_int_equal(unix_ms, 1);
	for (uint64_t at = 999; at < UINT64_C(4000000000000); at += 123456789123) {
		char text[CLOCK_TEXT_SIZE];

		assert_int_equal(clock_parse_utc(clock_format_utc(at, text), &unix_ms),
				 0);
		assert_int_equal(unix_ms, at);
	}
	assert_int_equal(clock_parse_utc("1970-01-01T00:00:01Z", &unix_ms), 0);
	assert_int_equal(unix_ms, 1000);
	assert_int_equal(clock_parse_utc("1970-01-01T00:00:01.2Z", &unix_ms), 0);
	assert_int_equal(unix_ms, 1200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_formatted_as_rfc_3339_in_utc),
		cmocka_unit_test(formatted_times_can_be_parsed),
		cmocka_unit_test(sample_k_is_due_k_intervals_after_the_start),
		cmocka_unit_test(a_late_sample_is_not_followed_by_a_burst),
		cmocka_unit_test(a_sample_taken_a_whole_interval_late_misses_one),
		cmocka_unit_test(an_early_sample_counts_as_the_due_one),
		cmocka_unit_test(a_new_interval_starts_immediately),
		cmocka_unit_test(an_interval_past_the_end_of_the_clock_is_never_due),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
