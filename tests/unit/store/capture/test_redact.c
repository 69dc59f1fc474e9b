/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "store/capture/redact.h"

struct fixture {
	struct redactor *redactor;
	struct strbuf out;
};

static int set_up(void **state)
{
	static struct fixture f;

	f.redactor = redactor_new();
	strbuf_init(&f.out);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	redactor_free(f->redactor);
	strbuf_release(&f->out);
	return 0;
}

static const char *name(struct fixture *f, const char *text)
{
	strbuf_clear(&f->out);
	redact_name(f->redactor, text, strlen(text), &f->out);
	return strbuf_text(&f->out);
}

static void redacted_names_keep_their_class(void **state)
{
	static const struct {
		const char *text, *expected, *why;
	} cases[] = {
		{ "", "", "no name" },
		{ "[heap]", "[heap]", "the kernel's tag" },
		{ "[anon: my pool]", "[anon: my pool]", "named anonymous memory" },
		{ "/home/ada/secret", "/p1", "a file" },
		{ "/home/ada/secret (deleted)", "/p1 (deleted)",
		  "the same file, deleted" },
		{ "/home/ada/secret (deleted) x", "/p2", "not deleted, only called so" },
		{ "/home/ada/with blank", "/p3", "one name, blank or not" },
		{ "/opt/x/libjemalloc.so.2", "/p4/libjemalloc", "an allocator" },
		{ "/lib/libc.so.6", "/p5/libc.so.6", "glibc" },
		{ "/lib/ld-musl-x86_64.so.1", "/p6/ld-musl-", "musl" },
		{ "/memfd:ring (deleted)", "/memfd:p7 (deleted)", "a memfd" },
		{ "/dev/shm/ada.sem", "/dev/shm/p8", "POSIX shared memory" },
		{ "/SYSV00000001 (deleted)", "/SYSVp9 (deleted)", "SysV shared memory" },
		{ "/dev/zero (deleted)", "/dev/zero (deleted)",
		  "shared anonymous memory" },
		{ "/[aio] (deleted)", "/[aio] (deleted)", "the kernel's own file" },
		{ "anon_inode:[perf_event]", "anon_inode:[perf_event]", "no path" },
		{ "odd", "p10", "what begins with no slash does not get one" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(name(*state, cases[i].text), cases[i].expected);
}

static void a_path_has_the_same_pseudonym_everywhere(void **state)
{
	static const char smaps[] =
		"55d790847000-55d79084c000 r-xp 00002000 fe:00 247134                     /a/b\n"
		"Rss:                 132 kB\n"
		"VmFlags: rd ex\n";
	static const char mounts[] =
		"29 23 0:25 /a/b /c rw shared:1 - tmpfs /a/b rw,size=1\n";
	static const char command[] = "/a/b\0-x\0\0-x\0/c";
	struct fixture *f = *state;

	assert_int_equal(redact_smaps(f->redactor, smaps, sizeof(smaps) - 1, &f->out), 0);
	assert_string_equal(
		f->out.text,
		"55d790847000-55d79084c000 r-xp 00002000 fe:00 247134                     /p1\n"
		"Rss:                 132 kB\n"
		"VmFlags: rd ex\n");
	strbuf_clear(&f->out);
	redact_mountinfo(f->redactor, mounts, sizeof(mounts) - 1, &f->out);
	assert_string_equal(f->out.text,
			    "29 23 0:25 /p1 /p2 rw shared:1 - tmpfs /p1 hidden\n");
	strbuf_clear(&f->out);
	redact_cmdline(f->redactor, command, sizeof(command), &f->out);
	assert_int_equal(f->out.length, sizeof("/p1\0arg3\0\0arg3\0/p2"));
	assert_memory_equal(f->out.text, "/p1\0arg3\0\0arg3\0/p2", f->out.length);
}

static void smaps_of_another_format_is_refused(void **state)
{
	static const char *const texts[] = {
		"/home/ada/secret\n",
		"secret: 1 kB\n",
		"Secret: /home/ada\n",
		"55d790847000-55d79084c000 /home/ada fe:00 247134 /x\n",
		"55d790847000-55d79084c000 r-xp 00002000 fe:00 247134 /cut",
		"55d790847000-55d79084c000 r-xp 00002000 fe:00 247134x /x\n",
		"\n",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		strbuf_clear(&f->out);
		assert_int_equal(
			redact_smaps(f->redactor, texts[i], strlen(texts[i]), &f->out),
			-EBADMSG);
		assert_string_equal(strbuf_text(&f->out), "");
	}
}

static void mounts_of_another_format_are_left_out(void **state)
{
	static const char mounts[] = "29 23 0:25 / /home rw no dash here\n"
				     "30 23 0:26 / / rw - tmpfs [host]:/x rw,secret\n"
				     "/home/ada\n"
				     "31 23 0:27 / /home rw - cut";
	struct fixture *f = *state;

	redact_mountinfo(f->redactor, mounts, sizeof(mounts) - 1, &f->out);
	assert_string_equal(strbuf_text(&f->out),
			    "30 23 0:26 / / rw - tmpfs p1 hidden\n");
}

static void empty_files_stay_empty(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(redact_smaps(f->redactor, "", 0, &f->out), 0);
	assert_int_equal(redact_mountinfo(f->redactor, "", 0, &f->out), 0);
	assert_int_equal(redact_cmdline(f->redactor, "", 0, &f->out), 0);
	assert_int_equal(f->out.length, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(redacted_names_keep_their_class, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_path_has_the_same_pseudonym_everywhere,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(smaps_of_another_format_is_refused,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(mounts_of_another_format_are_left_out,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(empty_files_stay_empty, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
