/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/profile_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "unit.h"

static char path[] = "profile-XXXXXX";

static int load(const void *bytes, size_t length, struct profile *ret, struct strbuf *why)
{
	assert_int_equal(io_write_file_atomic(path, bytes, length, 0600), 0);
	strbuf_clear(why);
	return profile_load(path, PROFILE_BYTES, ret, why);
}

static void stacks_as_text_are_read(void **state)
{
	static const char text[] = "# made by hand\n"
				   "main;operator new(unsigned long);malloc 12\n"
				   "\n"
				   "main;operator new(unsigned long) 30\r\n"
				   "[cut];main 0\n"
				   "main;operator new(unsigned long);malloc 100";
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;
	struct profile p;

	(void)state;
	assert_int_equal(load(text, sizeof(text) - 1, &p, &why), 0);
	assert_int_equal(p.known, 1 << PROFILE_BYTES);
	assert_int_equal(p.node_count, 6);
	assert_string_equal(p.frames[p.nodes[1].frame].function, "main");
	assert_string_equal(p.frames[p.nodes[2].frame].function, "operator new(unsigned long)");
	assert_string_equal(p.frames[p.nodes[3].frame].function, "malloc");
	assert_int_equal(p.nodes[3].values[PROFILE_BYTES], 112);
	assert_int_equal(p.nodes[2].values[PROFILE_BYTES], 30);
	assert_int_equal(p.frames[p.nodes[4].frame].kind, FRAME_CUT);
	assert_int_equal(p.nodes[5].parent, 4);
	profile_release(&p);
}

static void text_that_is_no_stacks_is_refused_with_its_line(void **state)
{
	static const struct {
		const char *text, *why;
		int r;
	} cases[] = {
		{ "", "is empty", -ENODATA },
		{ "# nothing\n", "has no stacks", -ENODATA },
		{ "a;b 1\na;b\n", "line 2: does not end in a number, as \"main;f 12\"", -EBADMSG },
		{ " 12\n", "line 1: does not end in a number, as \"main;f 12\"", -EBADMSG },
		{ "a 12 \n", "line 1: does not end in a number, as \"main;f 12\"", -EBADMSG },
		{ "a -1\n", "line 1: does not end in a number, as \"main;f 12\"", -EBADMSG },
		{ "a 9223372036854775807\nb 1\n", "line 2: the sum of all numbers is too large",
		  -EBADMSG },
	};
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile p = { .pid = 4711 };

		assert_int_equal(load(cases[i].text, strlen(cases[i].text), &p, &why), cases[i].r);
		assert_string_equal(why.text, cases[i].why);
		assert_int_equal(p.pid, 4711); /* untouched */
	}
}

static void a_file_that_cannot_be_read_says_why(void **state)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;
	struct profile p;

	(void)state;
	assert_int_equal(profile_load("/nowhere/p", PROFILE_BYTES, &p, &why), -ENOENT);
	assert_string_equal(why.text, "No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_as_text_are_read),
		cmocka_unit_test(text_that_is_no_stacks_is_refused_with_its_line),
		cmocka_unit_test(a_file_that_cannot_be_read_says_why),
	};
	int fd = mkstemp(path), r;

	if (fd < 0)
		return 99;
	close(fd);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return r;
}
