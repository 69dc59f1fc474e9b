/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/core/rights.h"

#include <errno.h>
#include <string.h>

#include "../../support/made_proc.h"
#include "../../support/unit.h"

static const struct {
	struct rights rights;
	const char *hint, *other; /* words in the hint; a word that is not in it */
} hint_rows[] = {
	{ { .user = "nobody" }, "'sudo -u nobody memstate'", "yama" },
	{ { .user = "nobody", .is_tracing = true }, "'sudo -u nobody memstate'", "yama" },
	{ { .user = "nobody", .is_tracing = true, .yama_scope = 1 },
	  "runs as nobody; use 'sudo memstate'",
	  "-u nobody" },
	{ { .user = "root" }, "runs as root; use 'sudo memstate'", "-u root" },
	{ { .user = NULL }, "another user; use 'sudo memstate'", "-u" },
	{ { .is_same_user = true }, "protected from its own user", "yama" },
	{ { .is_same_user = true, .yama_scope = 1 },
	  "protected from its own user",
	  "yama" },
	{ { .is_same_user = true, .is_tracing = true, .yama_scope = 1 },
	  "kernel.yama.ptrace_scope=0",
	  "protected" },
	{ { .is_same_user = true, .is_tracing = true, .yama_scope = 2 },
	  "ptrace_scope is 2; use 'sudo memstate'",
	  "ptrace_scope=0" },
	{ { .is_tracing = true, .has_capability = true, .yama_scope = 3 },
	  "ptrace_scope is 3",
	  "sudo" },
	{ { .is_root = true }, "--cap-add SYS_PTRACE", "sudo" },
	{ { .is_root = true, .is_perfmon_enough = true },
	  "--cap-add PERFMON",
	  "SYS_PTRACE" },
	{ { .is_root = true, .is_perfmon_enough = true, .is_tracing = true },
	  "--cap-add SYS_PTRACE",
	  "PERFMON" },
	{ { .user = "root" }, "setcap cap_sys_ptrace+ep", "perfmon" },
	{ { .user = "root", .is_perfmon_enough = true },
	  "setcap cap_perfmon+ep",
	  "ptrace" },
	{ { .user = "root", .is_perfmon_enough = true, .is_tracing = true },
	  "setcap cap_sys_ptrace+ep",
	  "perfmon" },
	{ { .has_capability = true, .is_confined = true },
	  "apparmor=unconfined",
	  "sudo" },
	{ { .has_capability = true, .is_confined = true, .is_in_namespace = true },
	  "run memstate on the host",
	  "apparmor" },
	{ { .is_root = true, .has_capability = true }, "a security module", "sudo" },
	{ { .has_capability = true, .is_in_namespace = true },
	  "run memstate on the host",
	  "sudo" },
};

/* Each failure is explained by the first cause that is true for it. */
static void the_hint_names_the_least_right(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(hint_rows); i++) {
		struct strbuf hint = STRBUF_INIT;

		rights_add_hint(&hint_rows[i].rights, &hint);
		assert_row(strstr(strbuf_text(&hint), hint_rows[i].hint),
			   hint_rows[i].hint);
		assert_row(!strstr(strbuf_text(&hint), hint_rows[i].other),
			   hint_rows[i].hint);
		strbuf_release(&hint);
	}
}

static void capabilities_depend_on_the_kernel(void **state)
{
	(void)state;
	assert_false(rights_is_perfmon_enough(0, 0));
	assert_false(rights_is_perfmon_enough(5, 19));
	assert_false(rights_is_perfmon_enough(6, 14));
	assert_true(rights_is_perfmon_enough(6, 15));
	assert_true(rights_is_perfmon_enough(7, 0));
}

static void only_enforced_profiles_of_apparmor_confine(void **state)
{
	(void)state;
	assert_true(rights_is_confined("docker-default (enforce)\n"));
	assert_true(rights_is_confined("cri-containerd.apparmor.d (enforce)\n"));
	assert_false(rights_is_confined("unconfined\n"));
	assert_false(rights_is_confined("/usr/bin/memstate (complain)\n"));
	/* a label of SELinux */
	assert_false(rights_is_confined("system_u:system_r:container_t:s0"));
	assert_false(rights_is_confined(""));
}

static void a_process_that_has_ended_needs_no_rights(void **state)
{
	static const struct {
		char stat; /* the state */
		int start_ticks, error;
		bool has_ended;
	} rows[] = {
		{ 'S', 107, -EPERM, false },  { 'S', 107, -EACCES, false },
		{ 'Z', 107, -EPERM, true },   { 'Z', 107, -EACCES, true },
		{ 'X', 107, -EACCES, true },  { 'S', 200, -EPERM, true },
		{ 'Z', 107, -EINVAL, false }, { 'Z', 107, 0, false },
	};
	const struct process process = { .pid = 7, .start_ticks = 107 };

	(void)state;
	assert_true(rights_has_ended(&made_fs, &process, -EPERM));
	assert_false(rights_has_ended(&made_fs, &process, -EBUSY));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		made_proc_write_stat(7, "seven", rows[i].stat, 1, rows[i].start_ticks);
		assert_int_equal(rights_has_ended(&made_fs, &process, rows[i].error),
				 rows[i].has_ended);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hint_names_the_least_right),
		cmocka_unit_test(capabilities_depend_on_the_kernel),
		cmocka_unit_test(only_enforced_profiles_of_apparmor_confine),
		cmocka_unit_test_setup_teardown(a_process_that_has_ended_needs_no_rights,
						made_proc_set_up, made_proc_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
