/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/num.h"

#include <errno.h>

#include "../support/unit.h"

struct row {
	const char *text;
	int r;
	uint64_t value;
};

#define UNTOUCHED 77

static void whole_numbers_are_parsed_strictly(void **state)
{
	static const struct row rows[] = {
		{ "0", 0, 0 },
		{ "007", 0, 7 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, UNTOUCHED },
		{ "99999999999999999999999", -ERANGE, UNTOUCHED },
		{ "", -EINVAL, UNTOUCHED },
		{ "-1", -EINVAL, UNTOUCHED },
		{ "+1", -EINVAL, UNTOUCHED },
		{ " 1", -EINVAL, UNTOUCHED },
		{ "1 ", -EINVAL, UNTOUCHED },
		{ "0x10", -EINVAL, UNTOUCHED },
		{ "1e3", -EINVAL, UNTOUCHED },
		{ "\xd9\xa1", -EINVAL, UNTOUCHED }, /* U+0661, an Arabic digit */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t value = UNTOUCHED;

		assert_row(num_parse_u64(rows[i].text, &value) == rows[i].r,
			   rows[i].text);
		assert_row(value == rows[i].value, rows[i].text);
	}
}

static void pids_are_limited_to_the_kernels_range(void **state)
{
	static const struct row rows[] = {
		{ "1", 0, 1 },
		{ "4194304", 0, 4194304 },
		{ "4194305", -ERANGE, UNTOUCHED },
		{ "0", -ERANGE, UNTOUCHED },
		/* would be 1 if truncated to 32 bits */
		{ "4294967297", -ERANGE, UNTOUCHED },
		{ "self", -EINVAL, UNTOUCHED },
		{ "1/", -EINVAL, UNTOUCHED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int pid = UNTOUCHED;

		assert_row(num_parse_pid(rows[i].text, &pid) == rows[i].r, rows[i].text);
		assert_row((uint64_t)pid == rows[i].value, rows[i].text);
	}
}

static void fractions_are_parsed_to_thousandths(void **state)
{
	static const struct row rows[] = {
		{ "0", 0, 0 },
		{ "2", 0, 2000 },
		{ "0.5", 0, 500 },
		{ "0.05", 0, 50 },
		{ "0.005", 0, 5 },
		{ "1.250", 0, 1250 },
		{ "18446744073709551.615", 0, UINT64_MAX },
		{ "18446744073709551.616", -ERANGE, UNTOUCHED },
		{ "0.0005", -EINVAL, UNTOUCHED },
		{ "1.", -EINVAL, UNTOUCHED },
		{ ".5", -EINVAL, UNTOUCHED },
		{ "1.2.3", -EINVAL, UNTOUCHED },
		{ "1,5", -EINVAL, UNTOUCHED },
		{ "-0.5", -EINVAL, UNTOUCHED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t value = UNTOUCHED;

		assert_row(num_parse_thousandths(rows[i].text, &value) == rows[i].r,
			   rows[i].text);
		assert_row(value == rows[i].value, rows[i].text);
	}
}

static void hexadecimal_is_parsed_with_and_without_0x(void **state)
{
	static const struct {
		const char *text;
		int result;
		uint64_t value;
	} rows[] = {
		{ "0", 0, 0 },
		{ "7f12a4c3b010", 0, UINT64_C(0x7f12a4c3b010) },
		{ "0x7F12a4c3B010", 0, UINT64_C(0x7f12a4c3b010) },
		{ "0Xffffffffffffffff", 0, UINT64_MAX },
		{ "1ffffffffffffffff", -ERANGE, 7 },
		{ "", -EINVAL, 7 },
		{ "0x", -EINVAL, 7 },
		{ "x1", -EINVAL, 7 },
		{ "-1", -EINVAL, 7 },
		{ "12g", -EINVAL, 7 },
		{ " 12", -EINVAL, 7 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value = 7;

		assert_row(num_parse_hex(rows[i].text, &value) == rows[i].result,
			   rows[i].text);
		assert_row(value == rows[i].value, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_are_parsed_strictly),
		cmocka_unit_test(pids_are_limited_to_the_kernels_range),
		cmocka_unit_test(fractions_are_parsed_to_thousandths),
		cmocka_unit_test(hexadecimal_is_parsed_with_and_without_0x),
	};

	return cmocka_run_group_tests_name("num", tests, NULL, NULL);
}
