/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/units.h"

#include <errno.h>
#include <string.h>

#include "../support/unit.h"

#define GIB (KIB(1024) * 1024)
#define EIB (GIB * GIB)

static void an_unknown_part_makes_a_sum_unknown(void **state)
{
	(void)state;
	assert_true(bytes_add(1, 2) == 3);
	assert_true(bytes_add(BYTES_UNKNOWN, 0) == BYTES_UNKNOWN);
	assert_true(bytes_add(0, BYTES_UNKNOWN) == BYTES_UNKNOWN);
	assert_true(bytes_add(BYTES_UNKNOWN, BYTES_UNKNOWN) == BYTES_UNKNOWN);
}

static void an_overflowing_sum_is_unknown(void **state)
{
	(void)state;
	assert_true(bytes_add(BYTES_UNKNOWN - 1, 0) == BYTES_UNKNOWN - 1);
	assert_true(bytes_add(BYTES_UNKNOWN - 2, 1) == BYTES_UNKNOWN - 1);
	assert_true(bytes_add(BYTES_UNKNOWN - 1, 1) == BYTES_UNKNOWN);
	assert_true(bytes_add(BYTES_UNKNOWN - 1, 2) == BYTES_UNKNOWN);
	assert_true(bytes_add(UINT64_C(1) << 63, UINT64_C(1) << 63) == BYTES_UNKNOWN);
}

static void a_difference_is_never_negative(void **state)
{
	(void)state;
	assert_true(bytes_sub(5, 3) == 2);
	assert_true(bytes_sub(3, 5) == 0);
	assert_true(bytes_sub(BYTES_UNKNOWN, 5) == BYTES_UNKNOWN);
	assert_true(bytes_sub(5, BYTES_UNKNOWN) == BYTES_UNKNOWN);
	assert_true(bytes_sub(BYTES_UNKNOWN, BYTES_UNKNOWN) == BYTES_UNKNOWN);
}

static void kib_are_converted_or_out_of_range(void **state)
{
	uint64_t bytes = 77;

	(void)state;
	assert_int_equal(units_bytes_from_kib((UINT64_C(1) << 54) - 1, &bytes), 0);
	assert_true(bytes == UINT64_MAX - 1023);
	bytes = 77;
	assert_int_equal(units_bytes_from_kib(UINT64_C(1) << 54, &bytes), -ERANGE);
	assert_int_equal(units_bytes_from_kib(UINT64_MAX, &bytes), -ERANGE);
	assert_true(bytes == 77);
}

static void bytes_are_printed_with_one_decimal_rounded_half_up(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ 1, "1" },
		{ 1023, "1023" },
		{ 1024, "1.0K" },
		{ 1024 + 51, "1.0K" },
		{ 1024 + 52, "1.1K" }, /* 1.0508K */
		{ 1536, "1.5K" },
		{ 1023 * 1024, "1023.0K" },
		{ 1023 * 1024 + 972, "1023.9K" },
		{ 1023 * 1024 + 973, "1.0M" }, /* 1023.95K would be printed as 1024.0K */
		{ 1024 * 1024 - 1, "1.0M" },
		{ 1024 * 1024, "1.0M" },
		{ GIB - 1, "1.0G" },
		{ GIB * 3 / 2, "1.5G" },
		{ GIB * 1024, "1.0T" },
		{ GIB * 1024 * 1024, "1.0P" },
		{ EIB - 1, "1.0E" },
		{ EIB, "1.0E" },
		{ EIB * 15 + EIB / 2, "15.5E" },
		{ UINT64_MAX - 1, "16.0E" },
		{ BYTES_UNKNOWN, "-" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char buf[UNITS_TEXT_SIZE];

		assert_string_equal(units_format_bytes(rows[i].bytes, buf), rows[i].text);
	}
}

static void amounts_are_printed_with_all_digits_on_request(void **state)
{
	char buf[UNITS_TEXT_SIZE];

	(void)state;
	assert_string_equal(units_format_amount(UINT64_MAX - 1, true, buf),
			    "18446744073709551614");
	assert_string_equal(units_format_amount(1025, true, buf), "1025");
	assert_string_equal(units_format_amount(BYTES_UNKNOWN, true, buf), "-");
	assert_string_equal(units_format_amount(1025, false, buf), "1.0K");
}

/* Tables have a fixed number of columns for amounts. */
static void bytes_never_take_more_than_seven_columns(void **state)
{
	(void)state;
	for (uint64_t bytes = 1; bytes < UINT64_MAX / 3; bytes = bytes * 3 / 2 + 1) {
		for (uint64_t near = bytes - 1; near <= bytes + 1; near++) {
			char buf[UNITS_TEXT_SIZE];

			units_format_bytes(near, buf);
			assert_true(strlen(buf) <= 7);
			assert_null(strstr(buf, "1024."));
		}
	}
}

static void changes_are_printed_with_a_sign(void **state)
{
	static const struct {
		int64_t bytes;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ 1, "+1" },
		{ -1, "-1" },
		{ 1536, "+1.5K" },
		{ -65536, "-64.0K" },
		{ INT64_MAX, "+8.0E" },
		{ INT64_MIN, "-8.0E" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char buf[UNITS_TEXT_SIZE];

		assert_string_equal(units_format_change(rows[i].bytes, buf),
				    rows[i].text);
	}
}

static void durations_are_parsed_with_and_without_a_unit(void **state)
{
	static const struct {
		const char *text;
		int r;
		uint64_t ns;
	} rows[] = {
		{ "2", 0, 2 * NS_PER_S },
		{ "0.5", 0, 500 * NS_PER_MS },
		{ "500ms", 0, 500 * NS_PER_MS },
		{ "1.5ms", 0, 1500 * NS_PER_US },
		{ "20us", 0, 20 * NS_PER_US },
		{ "0.001us", 0, 1 },
		{ "2s", 0, 2 * NS_PER_S },
		{ "1m", 0, 60 * NS_PER_S },
		{ "1min", 0, 60 * NS_PER_S },
		{ "1.5h", 0, 5400 * NS_PER_S },
		{ "0", 0, 0 },
		{ "", -EINVAL, 77 },
		{ "s", -EINVAL, 77 },
		{ "1 s", -EINVAL, 77 },
		{ "-1", -EINVAL, 77 },
		{ "1S", -EINVAL, 77 },
		{ "1ss", -EINVAL, 77 },
		{ "1d", 0, 86400 * NS_PER_S },
		{ "1w", -EINVAL, 77 },
		{ "1.0000s", -EINVAL, 77 },
		{ "nan", -EINVAL, 77 },
		{ "1e3", -EINVAL, 77 },
		{ "000000000000000000000000000000000000001", -EINVAL, 77 },
		{ "99999999999999999h", -ERANGE, 77 },
		{ "99999999999999999999", -ERANGE, 77 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t ns = 77;

		assert_row(units_parse_duration(rows[i].text, &ns) == rows[i].r,
			   rows[i].text);
		assert_row(ns == rows[i].ns, rows[i].text);
	}
}

static void durations_are_printed_in_the_two_largest_units(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} rows[] = {
		{ 0, "0ns" },
		{ 999, "999ns" },
		{ 15 * NS_PER_US, "15us" },
		{ 1500 * NS_PER_US, "1.5ms" },
		{ 2 * NS_PER_S, "2.0s" },
		{ 60 * NS_PER_S - 1, "59.9s" },
		{ 185 * NS_PER_S, "3m05s" },
		{ 7800 * NS_PER_S, "2h10m" },
		{ 5 * 86400 * NS_PER_S + 3 * 3600 * NS_PER_S, "5d03h" },
		{ UINT64_MAX, "213503d23h" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char buf[UNITS_TEXT_SIZE];

		assert_string_equal(units_format_duration(rows[i].ns, buf), rows[i].text);
	}
}

static void bytes_are_parsed_with_a_suffix(void **state)
{
	static const struct {
		const char *text;
		int result;
		uint64_t bytes;
	} rows[] = {
		{ "0B", 0, 0 },
		{ "512B", 0, 512 },
		{ "64K", 0, KIB(64) },
		{ "1.5M", 0, KIB(1536) },
		{ "2G", 0, KIB(2 * 1024 * 1024) },
		{ "1T", 0, KIB(1024 * 1024 * 1024) },
		{ "", -EINVAL, 7 },
		{ "12", -EINVAL, 7 },
		{ "K", -EINVAL, 7 },
		{ "1k", -EINVAL, 7 },
		{ "1KB", -EINVAL, 7 },
		{ "-1K", -EINVAL, 7 },
		{ "99999999999999999T", -ERANGE, 7 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t bytes = 7;

		assert_row(units_parse_bytes(rows[i].text, &bytes) == rows[i].result,
			   rows[i].text);
		assert_row(bytes == rows[i].bytes, rows[i].text);
	}
}

static void shares_are_rounded_and_do_not_overflow(void **state)
{
	(void)state;
	assert_int_equal(units_per_mille(0, 0), 0);
	assert_int_equal(units_per_mille(5, 0), 0);
	assert_int_equal(units_per_mille(1, 3), 333);
	assert_int_equal(units_per_mille(2, 3), 667);
	assert_int_equal(units_per_mille(1, 2000), 1);
	assert_int_equal(units_per_mille(1, 2001), 0);
	assert_int_equal(units_per_mille(UINT64_MAX - 1, UINT64_MAX - 1), 1000);
	assert_int_equal(units_per_mille(UINT64_MAX / 2, UINT64_MAX - 1), 500);
	assert_int_equal(units_per_mille(1, UINT64_MAX - 1), 0);
}

static void rates_of_a_report_share_the_unit_of_the_largest(void **state)
{
	static const struct {
		int64_t largest, rate;
		const char *text, *unit;
	} rows[] = {
		{ 0, 0, "0", "M/h" },
		{ 1, 1, "+1.0", "B/h" },
		{ -1023, 7, "+7.0", "B/h" },
		{ 1024, 1023, "+0.999", "K/h" },
		{ 1 << 20, -(1 << 19), "-0.500", "M/h" },
		{ 1 << 20, 1, "+<0.001", "M/h" },
		{ 1 << 20, -1, "-<0.001", "M/h" },
		{ 1 << 20, (1 << 20) - 1, "+1.0", "M/h" },
		{ 59 << 20, 59 << 20, "+59.0", "M/h" },
		{ 60 << 20, 59 << 20, "+0.983", "M/min" },
		{ INT64_C(3600) << 20, INT64_C(60) << 20, "+0.017", "M/s" },
		{ INT64_C(3600) << 30, -(INT64_C(7200) << 30), "-2.0", "G/s" },
		{ INT64_MAX, INT64_MAX, "+2330.2", "T/s" },
		{ INT64_MIN, INT64_MIN, "-2330.2", "T/s" },
	};
	char buf[UNITS_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct units_rate *unit = units_find_rate(rows[i].largest);

		assert_string_equal(unit->name, rows[i].unit);
		assert_string_equal(units_format_rate_in(rows[i].rate, unit, buf),
				    rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unknown_part_makes_a_sum_unknown),
		cmocka_unit_test(an_overflowing_sum_is_unknown),
		cmocka_unit_test(a_difference_is_never_negative),
		cmocka_unit_test(kib_are_converted_or_out_of_range),
		cmocka_unit_test(bytes_are_printed_with_one_decimal_rounded_half_up),
		cmocka_unit_test(amounts_are_printed_with_all_digits_on_request),
		cmocka_unit_test(bytes_never_take_more_than_seven_columns),
		cmocka_unit_test(changes_are_printed_with_a_sign),
		cmocka_unit_test(durations_are_parsed_with_and_without_a_unit),
		cmocka_unit_test(durations_are_printed_in_the_two_largest_units),
		cmocka_unit_test(bytes_are_parsed_with_a_suffix),
		cmocka_unit_test(rates_of_a_report_share_the_unit_of_the_largest),
		cmocka_unit_test(shares_are_rounded_and_do_not_overflow),
	};

	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
