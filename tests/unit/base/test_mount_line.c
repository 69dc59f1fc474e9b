/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/mount_line.h"

#include <string.h>

#include "../support/unit.h"

static bool parse(const char *text, struct mount_line *ret)
{
	static char line[512];

	assert_true(strlen(text) < sizeof(line));
	strcpy(line, text);
	return mount_line_parse(line, ret);
}

static void the_fields_of_a_line_are_parsed(void **state)
{
	struct mount_line m;

	(void)state;
	assert_true(parse(
		"35 31 0:32 /a /sys/fs/cgroup/memory rw,nosuid shared:9 master:2 - cgroup "
		"cgroup rw,memory",
		&m));
	assert_int_equal(m.major, 0);
	assert_int_equal(m.minor, 32);
	assert_string_equal(m.root, "/a");
	assert_string_equal(m.point, "/sys/fs/cgroup/memory");
	assert_string_equal(m.type, "cgroup");
	assert_string_equal(m.options, "rw,memory");
	assert_true(parse("29 23 8:1 / /run rw - tmpfs  rw", &m));
	assert_string_equal(m.type, "tmpfs");
	assert_string_equal(m.options, "rw");
}

static void escapes_are_decoded(void **state)
{
	struct mount_line m;

	(void)state;
	assert_true(parse(
		"1 2 0:3 /r\\040\\011x /my\\040cgroups\\134040\\012 rw - cgroup2 none rw",
		&m));
	assert_string_equal(m.root, "/r \tx");
	assert_string_equal(m.point, "/my cgroups\\040\n");
	/* The kernel writes no other escapes, so these are not escapes. */
	assert_true(parse("1 2 0:3 / /a\\04\\48\\999\\ rw - cgroup2 none rw", &m));
	assert_string_equal(m.point, "/a\\04\\48\\999\\");
}

static void names_that_look_like_fields_are_names(void **state)
{
	struct mount_line m;

	(void)state;
	assert_true(parse(
		"1 2 0:3 / /x\\040-\\040cgroup2\\040memory rw - ext4 /dev/hidepid=2 rw",
		&m));
	assert_string_equal(m.point, "/x - cgroup2 memory");
	assert_string_equal(m.type, "ext4");
	assert_null(mount_line_find_option(&m, "hidepid="));
}

static void options_are_whole_words(void **state)
{
	struct mount_line m;

	(void)state;
	assert_true(parse(
		"1 2 0:3 / /proc rw - proc proc rw,gid=4,hidepid=invisible,memory_hot",
		&m));
	assert_memory_equal(mount_line_find_option(&m, "hidepid="), "invisible,", 10);
	assert_non_null(mount_line_find_option(&m, "rw"));
	assert_null(mount_line_find_option(&m, "memory"));
	assert_null(mount_line_find_option(&m, "hot"));
	assert_null(mount_line_find_option(&m, "pid="));
}

static void other_lines_are_refused(void **state)
{
	static const char *const lines[] = {
		"",
		" - ",
		"1 2 0:3 / /a rw",
		"1 2 0:3 / - cgroup2 none rw",
		"1 2 x / /a rw - a b c",
		"1 2 0:3 / /a rw - cgroup2",
		"1 2 0:3 / /a rw - cgroup2 none",
	};
	struct mount_line m;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_row(!parse(lines[i], &m), lines[i]);
}

static void malformed_lines_of_a_text_are_skipped(void **state)
{
	char text[] = "broken\n1 2 0:3 / /a rw - ext4 /dev/a rw\n\n"
		      "4 5 0:6 / /b rw - xfs /dev/b rw"; /* no final line break */
	struct mount_line m;
	char *rest = text, *nothing = NULL;

	(void)state;
	assert_true(mount_line_next(&rest, &m));
	assert_string_equal(m.point, "/a");
	assert_true(mount_line_next(&rest, &m));
	assert_string_equal(m.point, "/b");
	assert_false(mount_line_next(&rest, &m));
	assert_false(mount_line_next(&rest, &m));
	assert_false(mount_line_next(&nothing, &m));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fields_of_a_line_are_parsed),
		cmocka_unit_test(escapes_are_decoded),
		cmocka_unit_test(names_that_look_like_fields_are_names),
		cmocka_unit_test(options_are_whole_words),
		cmocka_unit_test(other_lines_are_refused),
		cmocka_unit_test(malformed_lines_of_a_text_are_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
