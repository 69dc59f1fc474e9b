/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "proc/system/meminfo.h"

static void amounts_match_the_whole_key(void **state)
{
	static const char text[] = "SwapTotalX:     1 kB\nXSwapTotal:  2 kB\n"
				   "SwapTotal:     3 kB\nEmpty: 0 kB\nLast:  4 kB";
	uint64_t bytes = 7;

	(void)state;
	assert_int_equal(proc_meminfo_parse(text, "SwapTotal", &bytes), 0);
	assert_int_equal(bytes, 3 << 10);
	assert_int_equal(proc_meminfo_parse(text, "Empty", &bytes), 0);
	assert_int_equal(bytes, 0);
	assert_int_equal(proc_meminfo_parse(text, "Last", &bytes), 0);
	assert_int_equal(bytes, 4 << 10);
}

static void malformed_amounts_are_refused_without_side_effects(void **state)
{
	static const struct {
		const char *text;
		int expected;
	} cases[] = {
		{ "", -ENODATA },
		{ "Other: 1 kB\n", -ENODATA },
		{ "Key", -ENODATA },
		{ "Key:", -EBADMSG },
		{ "Key: 1\n", -EBADMSG },
		{ "Key: 1 MB\n", -EBADMSG },
		{ "Key: -1 kB\n", -EBADMSG },
		{ "Key: 18446744073709551616 kB\n", -EBADMSG },
		{ "Key: 18446744073709551615 kB\n", -EBADMSG },
	};
	uint64_t bytes = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(proc_meminfo_parse(cases[i].text, "Key", &bytes),
				 cases[i].expected);
	assert_int_equal(bytes, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(amounts_match_the_whole_key),
		cmocka_unit_test(malformed_amounts_are_refused_without_side_effects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
