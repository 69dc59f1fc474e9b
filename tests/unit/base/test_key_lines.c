/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/key_lines.h"

#include <string.h>

#include "../support/unit.h"

/* A process may have this name; the kernel writes a line break in a name as \n. */
static const char status[] = "Name:\tState:\tZ\\nSeccomp:\t0\n"
			     "Umask:\t0022\n"
			     "State:\tS (sleeping)\n"
			     "VmHWM:\t    1234 kB\n"
			     "CapEff:\t000001ffffffffff\n"
			     "Seccomp:\t2\n"
			     "Seccomp_filters:\t1\n"
			     "Empty:\n"
			     "Large:\t18446744073709551616\n"
			     "Last:\t7";

static void keys_match_only_at_the_start_of_a_line(void **state)
{
	uint64_t value = 99;

	(void)state;
	assert_int_equal(*key_lines_find(status, "State:"), 'S');
	assert_true(key_lines_find_u64(status, "Seccomp:", &value));
	assert_int_equal(value, 2);
	assert_true(key_lines_find_u64(status, "Seccomp_filters:", &value));
	assert_int_equal(value, 1);
	assert_null(key_lines_find(status, "HWM:"));
	assert_null(key_lines_find(status, "eccomp:"));
	assert_null(key_lines_find(status, "Missing:"));
}

static void the_first_and_the_last_line_are_searched(void **state)
{
	uint64_t value = 99;

	(void)state;
	assert_ptr_equal(key_lines_find(status, "Name:"), status + strlen("Name:\t"));
	assert_true(key_lines_find_u64(status, "Last:", &value));
	assert_int_equal(value, 7);
	assert_null(key_lines_find("", "Name:"));
	assert_null(key_lines_find("\n\n", "Name:"));
	assert_null(key_lines_find("Nam", "Name:"));
	assert_int_equal(*key_lines_find("\n\nName:\n", "Name:"), '\n');
}

static void a_value_ends_with_its_line(void **state)
{
	uint64_t value = 99;

	(void)state;
	assert_int_equal(*key_lines_find(status, "Empty:"), '\n');
	assert_false(key_lines_find_u64(status, "Empty:", &value));
	assert_int_equal(value, 99);
}

static void numbers_are_checked(void **state)
{
	uint64_t value = 99;

	(void)state;
	assert_false(key_lines_find_u64(status, "Large:", &value));
	assert_false(key_lines_find_u64(status, "State:", &value));
	assert_false(key_lines_find_u64("a: 12x\n", "a:", &value));
	assert_false(key_lines_find_u64("a: -1\n", "a:", &value));
	assert_int_equal(value, 99);
	assert_true(key_lines_find_u64(status, "VmHWM:", &value));
	assert_int_equal(value, 1234);
	assert_true(key_lines_find_hex(status, "CapEff:", &value));
	assert_int_equal(value, 0x1ffffffffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_match_only_at_the_start_of_a_line),
		cmocka_unit_test(the_first_and_the_last_line_are_searched),
		cmocka_unit_test(a_value_ends_with_its_line),
		cmocka_unit_test(numbers_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
