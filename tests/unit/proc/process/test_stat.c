/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/process/stat.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../support/unit.h"

#define AFTER_STATE(ppid, threads, rss)                                    \
	" " ppid " 100 100 0 -1 4194560 11 12 13 14 5 6 7 8 20 0 " threads \
	" 0 998877 5242880 " rss                                           \
	" 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0\n"
#define REST AFTER_STATE("99", "4", "25")

static int parse(const char *text, struct process *ret)
{
	return proc_stat_parse(text, strlen(text), ret);
}

static void all_fields_are_parsed(void **state)
{
	struct process p;

	(void)state;
	assert_int_equal(parse("1234 (bash) S" REST, &p), 0);
	assert_int_equal(p.pid, 1234);
	assert_int_equal(p.ppid, 99);
	assert_int_equal(p.state, 'S');
	assert_string_equal(p.comm, "bash");
	assert_true(p.thread_count == 4);
	assert_true(p.minor_fault_count == 11 && p.major_fault_count == 13);
	assert_true(p.start_ticks == 998877);
	assert_true(p.stat_size_bytes == 5242880);
	assert_true(p.stat_rss_bytes == 25 * (uint64_t)sysconf(_SC_PAGESIZE));
	assert_true(p.uid == UINT32_MAX);
	assert_false(p.is_kernel_thread);
}

static void a_name_may_contain_any_bytes(void **state)
{
	static const char *const names[] = {
		"a b",
		"a) S 1",
		") ",
		"((",
		"))",
		")",
		"(",
		"a,b",
		"say \"hi\"",
		"two\nlines",
		"\x1b[31m",
		"\xff\xfe",
		"",
		" ",
		"1 (2) R",
		"sixty-three-bytes-are-the-longest-name-that-the-model-has-room1",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct process p;
		char text[512];

		snprintf(text, sizeof(text), "7 (%s) R%s", names[i], REST);
		assert_row(parse(text, &p) == 0, names[i]);
		assert_string_equal(p.comm, names[i]);
		assert_int_equal(p.state, 'R');
		assert_int_equal(p.ppid, 99);
	}
}

static void a_long_name_is_truncated_at_a_character(void **state)
{
	struct process p;
	char name[80] = "";

	(void)state;
	memset(name, 'x', 62);
	strcat(name, "\xe2\x82\xac");
	name[65] = '\0';
	{
		char text[512];

		snprintf(text, sizeof(text), "7 (%s) R%s", name, REST);
		assert_int_equal(parse(text, &p), 0);
	}
	assert_int_equal(strlen(p.comm), 62);
}

static void a_negative_rss_counts_as_zero(void **state)
{
	struct process p;

	(void)state;
	assert_int_equal(parse("7 (x) X" AFTER_STATE("1", "1", "-3"), &p), 0);
	assert_true(p.stat_rss_bytes == 0);
}

static void kernel_threads_are_recognized_by_their_flag(void **state)
{
	struct process p;

	(void)state;
	assert_int_equal(
		parse("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 "
		      "18446744073709551615 0 0\n",
		      &p),
		0);
	assert_true(p.is_kernel_thread);
	assert_false(process_has_memory(&p));
}

static void a_process_that_has_not_called_exec_is_recognized_by_its_flag(void **state)
{
	struct process p;

	(void)state;
	assert_int_equal(parse("7 (x) S 1 7 7 0 -1 4194368" /* 0x400040 */
			       " 0 0 0 0 0 0 0 0 20 0 1 0 5 8192 1 0\n",
			       &p),
			 0);
	assert_true(p.is_fork);
	assert_false(p.is_kernel_thread);
	assert_int_equal(parse("7 (x) S 1 7 7 0 -1 4194304"
			       " 0 0 0 0 0 0 0 0 20 0 1 0 5 8192 1 0\n",
			       &p),
			 0);
	assert_false(p.is_fork);
}

static void zombies_have_no_memory(void **state)
{
	struct process p;

	(void)state;
	assert_int_equal(parse("7 (x) Z" AFTER_STATE("1", "1", "0"), &p), 0);
	assert_false(process_has_memory(&p));
	assert_int_equal(parse("7 (x) T" AFTER_STATE("1", "1", "9"), &p), 0);
	assert_true(process_has_memory(&p));
}

static void malformed_lines_are_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"junk",
		"7 x R" REST,
		"7 (x R" REST,
		"7 x) R" REST,
		"7 )x( R" REST,
		"(x) R" REST,
		" (x) R" REST,
		"7(x) R" REST,
		"7 (x)",
		"7 (x) ",
		"7 (x) R",
		"7 (x)R" REST,
		"0 (x) R" REST,
		"-7 (x) R" REST,
		"x (x) R" REST,
		"99999999999999999999 (x) R" REST,
		"7 (x) ," REST,
		"7 (x) \x1b" REST,
		"7 (x) 3" REST,
		"7 (x) RR" REST,
		"7 (x) R" AFTER_STATE("99999999999", "1", "1"),
		"7 (x) R" AFTER_STATE("1", "4294967296", "1"),
		"7 (x) R" AFTER_STATE("1", "1", "18446744073709551616"),
		/* in pages: more than 2^64 bytes */
		"7 (x) R" AFTER_STATE("1", "1", "18446744073709551615"),
		"7 (x) R" AFTER_STATE("1", "x", "1"),
		"7 (x) R" AFTER_STATE("", "1", "1"),
		"7 (x) R" AFTER_STATE("--1", "1", "1"),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct process p, before;

		memset(&p, 0x55, sizeof(p));
		before = p;
		assert_row(parse(texts[i], &p) == -EBADMSG, texts[i]);
		assert_memory_equal(&p, &before, sizeof(p));
	}
}

/*
 * The last field that is read is rss. A line that ends earlier is an error,
 * or rss is a shorter number.
 */
static void a_line_truncated_before_rss_is_refused(void **state)
{
	static const char text[] = "1234 (a) b) S" REST;
	size_t rss = (size_t)(strstr(text, " 25 ") - text);

	(void)state;
	for (size_t length = 0; length <= rss; length++) {
		struct process p;

		assert_int_equal(proc_stat_parse(text, length, &p), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_fields_are_parsed),
		cmocka_unit_test(a_name_may_contain_any_bytes),
		cmocka_unit_test(a_long_name_is_truncated_at_a_character),
		cmocka_unit_test(a_negative_rss_counts_as_zero),
		cmocka_unit_test(kernel_threads_are_recognized_by_their_flag),
		cmocka_unit_test(
			a_process_that_has_not_called_exec_is_recognized_by_its_flag),
		cmocka_unit_test(zombies_have_no_memory),
		cmocka_unit_test(malformed_lines_are_refused),
		cmocka_unit_test(a_line_truncated_before_rss_is_refused),
	};

	return cmocka_run_group_tests_name("proc_stat", tests, NULL, NULL);
}
