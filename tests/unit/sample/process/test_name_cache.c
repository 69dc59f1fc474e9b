/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Test whose command lines are read when processes are selected by name. */
#include "config.h"

#include "sample/process/targets.h"

#include <stdlib.h>
#include <string.h>

#include "proc/process/task.h"
#include "../../support/made_proc.h"
#include "../../support/unit.h"

static struct snapshot snapshot;
static struct targets targets;
static unsigned int read_count; /* of command lines */

int __real_proc_task_read_arguments(const struct procfs *fs, int pid, char *to,
				    size_t size, size_t *ret_length);
int __wrap_proc_task_read_arguments(const struct procfs *fs, int pid, char *to,
				    size_t size, size_t *ret_length);

int __wrap_proc_task_read_arguments(const struct procfs *fs, int pid, char *to,
				    size_t size, size_t *ret_length)
{
	read_count++;
	return __real_proc_task_read_arguments(fs, pid, to, size, ret_length);
}

static int begin(void **state)
{
	if (made_proc_set_up(state) < 0)
		return -1;
	snapshot_init(&snapshot);
	memset(&targets, 0, sizeof(targets));
	return 0;
}

static int end(void **state)
{
	snapshot_release(&snapshot);
	free(targets.names_found);
	name_cache_free(targets.name_cache);
	return made_proc_tear_down(state);
}

/* List the processes with the names. Return how many command lines that read. */
static unsigned int list(const char **names, size_t name_count)
{
	targets.names = names;
	targets.name_count = name_count;
	snapshot_clear(&snapshot);
	read_count = 0;
	assert_int_equal(targets_list(&made_fs, &targets, &snapshot), 0);
	return read_count;
}

static void a_command_line_is_not_read_if_comm_matches(void **state)
{
	const char *names[] = { "seven" };

	(void)state;
	made_proc_write_stat(7, "seven", 'S', 1, 107);
	made_proc_write_stat(8, "seven", 'D', 1, 108);
	assert_int_equal(list(names, ARRAY_SIZE(names)), 0);
	assert_int_equal(snapshot.count, 2);
	assert_true(targets.names_found[0]);
	assert_int_equal(targets.unread_count, 0);
}

static void a_command_line_is_read_for_the_names_that_comm_does_not_match(void **state)
{
	const char *names[] = { "seven", "server" };

	(void)state;
	made_proc_write_stat(7, "seven", 'S', 1, 107);
	made_proc_write(7, "cmdline", "/bin/server");
	assert_int_equal(list(names, ARRAY_SIZE(names)), 1);
	assert_int_equal(snapshot.count, 1);
	assert_true(targets.names_found[0] && targets.names_found[1]);
}

static void a_command_line_is_read_once(void **state)
{
	const char *names[] = { "server" };

	(void)state;
	made_proc_write_stat(7, "seven", 'S', 1, 107);
	made_proc_write_stat(8, "eight", 'S', 1, 108);
	made_proc_write(8, "cmdline", "/bin/server");
	assert_int_equal(list(names, ARRAY_SIZE(names)), 2);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(list(names, ARRAY_SIZE(names)), 0);
		assert_int_equal(snapshot.count, 1);
		assert_int_equal(snapshot.usages[0].process.pid, 8);
	}
}

static void a_command_line_is_read_again_after_exec(void **state)
{
	const char *names[] = { "server" };

	(void)state;
	made_proc_write_stat(7, "seven", 'S', 1, 107);
	assert_int_equal(list(names, ARRAY_SIZE(names)), 1);
	assert_int_equal(snapshot.count, 0);
	made_proc_write(7, "cmdline", "/bin/server");
	made_proc_write(7, "stat",
			"7 (seven) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 107 2097152 "
			"16 0\n");
	assert_int_equal(list(names, ARRAY_SIZE(names)), 1);
	assert_int_equal(snapshot.count, 1);
	made_proc_write(7, "cmdline", "/bin/other");
	made_proc_write_stat(7, "seven", 'S', 1, 200); /* another process */
	assert_int_equal(list(names, ARRAY_SIZE(names)), 1);
	assert_int_equal(snapshot.count, 0);
}

static void the_command_line_of_a_process_in_state_d_is_not_read(void **state)
{
	const char *names[] = { "server" };
	struct strbuf all = STRBUF_INIT;

	(void)state;
	made_proc_write_stat(7, "seven", 'D', 1, 107);
	made_proc_write(7, "cmdline", "/bin/server");
	assert_int_equal(list(names, ARRAY_SIZE(names)), 0);
	assert_int_equal(snapshot.count, 0);
	assert_int_equal(targets.unread_count, 1);
	assert_int_equal(targets_list_names(&made_fs, targets.name_cache, &all), 1);
	assert_int_equal(read_count, 0);
	strbuf_release(&all);

	made_proc_write_stat(7, "seven", 'S', 1, 107);
	assert_int_equal(list(names, ARRAY_SIZE(names)), 1);
	assert_int_equal(snapshot.count, 1);
	assert_int_equal(targets.unread_count, 0);
	made_proc_write_stat(7, "seven", 'D', 1, 107); /* the names are known now */
	assert_int_equal(list(names, ARRAY_SIZE(names)), 0);
	assert_int_equal(snapshot.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_command_line_is_not_read_if_comm_matches, begin, end),
		cmocka_unit_test_setup_teardown(
			a_command_line_is_read_for_the_names_that_comm_does_not_match,
			begin, end),
		cmocka_unit_test_setup_teardown(a_command_line_is_read_once, begin, end),
		cmocka_unit_test_setup_teardown(a_command_line_is_read_again_after_exec,
						begin, end),
		cmocka_unit_test_setup_teardown(
			the_command_line_of_a_process_in_state_d_is_not_read, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
