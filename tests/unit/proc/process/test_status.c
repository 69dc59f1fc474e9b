/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/process/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../support/unit.h"
#include "base/cleanup.h"
#include "proc/process/dir.h"

static void the_effective_user_is_found(void **state)
{
	uint32_t uid = 7;

	(void)state;
	assert_true(
		proc_status_find_uid("Name:\tUid:\nUid:\t0\t4294967294\t2\t3\n", &uid));
	assert_true(uid == 4294967294);
	assert_false(proc_status_find_uid("Name:\tUid: 1 2\n", &uid));
	assert_false(proc_status_find_uid("Uid:\t0\n", &uid));
	assert_true(uid == 4294967294);
}

static void the_own_number_is_the_last_one(void **state)
{
	(void)state;
	assert_true(proc_status_find_own_number("NSpid:\t4242\nNSpgid:\t1\n") == 4242);
	assert_true(proc_status_find_own_number("Pid:\t1\nNSpid:\t4242\t17\t1") == 1);
	assert_true(proc_status_find_own_number("Pid:\t1\n") == 0);
	assert_true(proc_status_find_own_number("NSpid:\t\n") == 0);
}

static void our_own_thread_is_found(void **state)
{
	_cleanup_close_ int process_fd = proc_dir_open_live(getpid());
	_cleanup_close_ int task_fd = proc_dir_open_threads(process_fd);
	uint32_t number = proc_status_read_own_number(process_fd, 0);
	char letter = '?';
	int tracer = -1;

	(void)state;
	assert_true(process_fd >= 0 && task_fd >= 0);
	assert_int_equal(number, getpid());
	assert_int_equal(proc_status_find_thread(process_fd, number), getpid());
	assert_int_equal(proc_status_find_thread(process_fd, UINT32_MAX), 0);
	assert_int_equal(proc_status_read_state(task_fd, getpid(), &letter, &tracer), 0);
	assert_int_equal(letter, 'R');
	assert_int_equal(proc_status_read_state(task_fd, 0, &letter, &tracer), -ESRCH);
	assert_true(proc_dir_has_thread(process_fd, getpid()));
	assert_false(proc_thread_exists(task_fd, 0));
}

static void paths_name_the_process_or_ourselves(void **state)
{
	char path[PROCFS_PATH_SIZE];

	(void)state;
	proc_file_format_path(path, 12, PROC_NS_PID);
	assert_string_equal(path, "12/ns/pid");
	proc_file_format_path(path, PROCFS_SELF, PROC_STATUS);
	assert_string_equal(path, "self/status");
	proc_file_format_path(path, PROCFS_THREAD_SELF, PROC_SYSCALL);
	assert_string_equal(path, "thread-self/syscall");
	proc_file_format_path(path, -ESRCH, PROC_MEM); /* never a process */
	assert_string_equal(path, "0/mem");
	proc_file_format_thread_path(path, 12, 34, PROC_STAT);
	assert_string_equal(path, "12/task/34/stat");
}

static void set_user_id_programs_and_root_have_no_ids(void **state)
{
	static const struct {
		const char *uids, *gids;
		bool has_ids;
	} rows[] = {
		{ "7\t7\t7\t7", "8\t8\t8\t8", true },
		{ "0\t0\t0\t0", "8\t8\t8\t8", false },
		{ "6\t7\t7\t7", "8\t8\t8\t8", false },
		{ "7\t6\t7\t7", "8\t8\t8\t8", false },
		{ "7\t7\t6\t7", "8\t8\t8\t8", false },
		{ "7\t7\t7\t6", "8\t8\t8\t8", false },
		{ "7\t7\t7\t7", "8\t8\t9\t8", false },
		{ "7\t7\t7", "8\t8\t8\t8", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct foreign_reader reader;
		char text[128];

		snprintf(text, sizeof(text),
			 "Uid:\t%s\nGid:\t%s\nGroups:\t20 4294967294 \nx:\t1\n",
			 rows[i].uids, rows[i].gids);
		proc_status_find_reader(text, &reader);
		assert_int_equal(reader.has_ids, rows[i].has_ids);
		assert_int_equal(reader.group_count, rows[i].has_ids ? 2 : 0);
		if (rows[i].has_ids) {
			assert_int_equal(reader.uid, 7);
			assert_int_equal(reader.gid, 8);
			assert_true(reader.groups[0] == 20);
			assert_true(reader.groups[1] == 4294967294);
		}
		foreign_reader_release(&reader);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_effective_user_is_found),
		cmocka_unit_test(set_user_id_programs_and_root_have_no_ids),
		cmocka_unit_test(the_own_number_is_the_last_one),
		cmocka_unit_test(our_own_thread_is_found),
		cmocka_unit_test(paths_name_the_process_or_ourselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
