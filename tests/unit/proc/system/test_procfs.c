/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/system/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "proc/process/list.h"
#include "proc/process/stat.h"
#include "proc/process/task.h"
#include "proc/smaps/smaps.h"
#include "../../support/made_proc.h"
#include "../../support/smaps_texts.h"
#include "../../support/unit.h"

#define STAT(pid, comm) \
	pid " (" comm ") S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 500 1048576 64 0\n"

static void a_missing_root_is_an_error(void **state)
{
	struct procfs none = PROCFS_INIT;

	(void)state;
	assert_int_equal(procfs_open(&none, "/nonexistent"), -ENOENT);
	assert_int_equal(procfs_open(&none, "/dev/null"), -ENOTDIR);
	assert_int_equal(none.fd, -1);
	procfs_release(&none);
}

static void a_captured_tree_is_not_live(void **state)
{
	struct procfs live = PROCFS_INIT;

	(void)state;
	assert_false(made_fs.is_live);
	assert_int_equal(procfs_open(&live, "/proc"), 0);
	assert_true(live.is_live);
	procfs_release(&live);
}

static void a_gone_process_and_a_missing_file_have_different_errors(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	tree_write(&made_tree, "7/stat", STAT("7", "x"));
	assert_int_equal(procfs_open_file(&made_fs, 8, "stat"), -ESRCH);
	assert_int_equal(procfs_open_file(&made_fs, 7, "smaps_rollup"), -EOPNOTSUPP);
	assert_int_equal(procfs_read_file(&made_fs, 8, "stat", 100, &out), -ESRCH);
	assert_int_equal(procfs_read_file(&made_fs, 7, "stat", 5, &out), -EFBIG);
	assert_int_equal(out.length, 0);
	assert_int_equal(procfs_normalize_errno(ENOENT), -ESRCH);
	assert_int_equal(procfs_normalize_errno(ESRCH), -ESRCH);
	assert_int_equal(procfs_normalize_errno(EACCES), -EACCES);
	strbuf_release(&out);
}

static void a_missing_permission_is_an_error(void **state)
{
	(void)state;
	if (geteuid() == 0)
		skip();
	tree_write(&made_tree, "7/smaps", "");
	tree_chmod(&made_tree, "7/smaps", 0);
	assert_int_equal(procfs_open_file(&made_fs, 7, "smaps"), -EACCES);
}

static void a_fifo_in_a_capture_does_not_block(void **state)
{
	struct process p;

	(void)state;
	tree_write(&made_tree, "7/cmdline", "");
	tree_mkfifo(&made_tree, "7/stat");
	alarm(20);
	assert_int_equal(proc_stat_read(&made_fs, 7, &p), -EBADMSG);
	alarm(0);
}

static void paths_consist_of_pid_and_file(void **state)
{
	char path[PROCFS_PATH_SIZE];

	(void)state;
	procfs_format_path(path, 1, "smaps");
	assert_string_equal(path, "1/smaps");
	procfs_format_path(path, 4194304, "");
	assert_string_equal(path, "4194304/");
	procfs_format_path(
		path, INT32_MAX,
		"a-name-that-is-longer-than-any-file-of-proc-could-be-xxxxxxx");
	assert_true(strlen(path) < sizeof(path));
}

static void a_stat_of_another_pid_is_refused(void **state)
{
	struct process p;

	(void)state;
	tree_write(&made_tree, "7/stat", STAT("8", "x"));
	assert_int_equal(proc_stat_read(&made_fs, 7, &p), -EBADMSG);
	tree_write(&made_tree, "8/stat", STAT("8", "x"));
	assert_int_equal(proc_stat_read(&made_fs, 8, &p), 0);
	assert_int_equal(p.pid, 8);
}

static void in_a_capture_the_effective_user_comes_from_status(void **state)
{
	static const struct {
		const char *status;
		uint32_t uid;
	} rows[] = {
		{ "Name:\tx\nUid:\t5\t1000\t7\t8\nGid:\t1\t2\t3\t4\n", 1000 },
		{ "Name:\tx\nUid:\t5\n", UINT32_MAX },
		{ "Name:\tUid:\t1\t2\t3\t4\n", UINT32_MAX },
		{ "", UINT32_MAX },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		tree_write(&made_tree, "7/status", rows[i].status);
		assert_row(proc_stat_read_uid(&made_fs, 7) == rows[i].uid,
			   rows[i].status);
	}
	assert_true(proc_stat_read_uid(&made_fs, 9) == UINT32_MAX);
}

struct seen {
	int pids[16];
	size_t count;
};

static int note_pid(void *context, const struct process *p)
{
	struct seen *seen = context;

	assert_true(seen->count < ARRAY_SIZE(seen->pids));
	seen->pids[seen->count++] = p->pid;
	return 0;
}

static int stop(void *context, const struct process *p)
{
	(void)p;
	return *(const int *)context;
}

static void the_list_contains_only_pids(void **state)
{
	struct seen seen = { .count = 0 };
	int results[] = { -ECANCELED, 7 };

	(void)state;
	tree_write(&made_tree, "7/stat", STAT("7", "x"));
	tree_write(&made_tree, "4194304/stat", STAT("4194304", "y"));
	tree_write(&made_tree, "0/stat", STAT("0", "z"));
	tree_write(&made_tree, "9x/stat", STAT("9", "z"));
	tree_write(&made_tree, "sys/kernel", "");
	tree_write(&made_tree, "12/smaps", ""); /* process 12 has no stat file */
	assert_int_equal(proc_list_read(&made_fs, LIST_STAT, note_pid, &seen), 0);
	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.pids[0] + seen.pids[1], 7 + 4194304);
	for (size_t i = 0; i < ARRAY_SIZE(results); i++)
		assert_int_equal(proc_list_read(&made_fs, LIST_STAT, stop, &results[i]),
				 results[i]);
}

static void a_process_with_an_unreadable_stat_is_listed(void **state)
{
	struct seen seen = { .count = 0 };

	(void)state;
	if (geteuid() == 0)
		skip();
	tree_write(&made_tree, "7/stat", STAT("7", "x"));
	tree_chmod(&made_tree, "7/stat", 0);
	assert_int_equal(proc_list_read(&made_fs, LIST_STAT, note_pid, &seen), 0);
	assert_int_equal(seen.count, 1);
}

static void arguments_are_joined_by_blanks(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *command;
	} rows[] = {
		{ "a\0-b\0c d\0", 9, "a -b c d" },
		{ "title without an end", 20, "title without an end" },
		{ "a\0\0b\0", 5, "a  b" },
		{ "a\0\0\0\0", 5, "a" },
		{ "\0\0", 2, "" },
		{ "", 0, "" },
		{ "new\nline\0", 9, "new\nline" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *command = NULL;

		tree_write_bytes(&made_tree, "7/cmdline", rows[i].bytes, rows[i].length);
		assert_int_equal(proc_task_read_command(&made_fs, 7, &command), 0);
		assert_string_equal(command, rows[i].command);
		free(command);
	}
}

static void a_very_long_command_line_is_truncated(void **state)
{
	static const size_t lengths[] = {
		2047, 2048, 2049, 65535, 65536, 65537, 1 << 20
	};
	const size_t max = 64 * 1024;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		size_t length = lengths[i], kept = length < max ? length : max;
		char *bytes = malloc(length), *command = NULL;

		for (size_t k = 0; k < length; k++)
			bytes[k] = (char)('a' + k % 23);
		tree_write_bytes(&made_tree, "7/cmdline", bytes, length);
		assert_int_equal(proc_task_read_command(&made_fs, 7, &command), 0);
		assert_int_equal(strlen(command), kept);
		assert_memory_equal(command, bytes, kept);
		free(command);
		free(bytes);
	}
}

static void the_stack_pointer_precedes_the_program_counter(void **state)
{
	static const struct {
		const char *text;
		int r;
		uint64_t addr;
	} rows[] = {
		{ "61 0x10bd 0x7ffc5c1cfbe8 0x0 0x0 0x0 0x0 0x7ffc5c1cfbb0 0x7fec8c352c17\n",
		  0, 0x7ffc5c1cfbb0 },
		{ "-1 0x7ffc5c1cfbb0 0x7fec8c352c17\n", 0, 0x7ffc5c1cfbb0 },
		{ "-1 0xffffffffffffffff 0x1\n", 0, UINT64_MAX },
		{ "running\n", -ENODATA, 77 },
		{ "", -EBADMSG, 77 },
		{ "\n", -EBADMSG, 77 },
		{ "-1\n", -EBADMSG, 77 },
		{ "-1 0x7ffc5c1cfbb0\n", -EBADMSG, 77 },
		{ "-1 7ffc5c1cfbb0 0x1\n", -EBADMSG, 77 },
		{ "-1 0x10000000000000000 0x1\n", -EBADMSG, 77 },
		{ "-1 0x7ffcz 0x1\n", -EBADMSG, 77 },
		{ "-1 0x 0x1\n", -EBADMSG, 77 },
		{ "-1 0x-1 0x1\n", -EBADMSG, 77 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t addr = 77;

		assert_row(proc_task_parse_syscall(rows[i].text, &addr) == rows[i].r,
			   rows[i].text);
		assert_row(addr == rows[i].addr, rows[i].text);
	}
}

static void stack_pointers_of_all_waiting_threads_are_read(void **state)
{
	struct address_list list = ADDRESS_LIST_INIT;

	(void)state;
	tree_write(&made_tree, "7/task/7/syscall",
		   "0 0x1 0x2 0x3 0x4 0x5 0x6 0x111 0x222\n");
	tree_write(&made_tree, "7/task/8/syscall", "running\n");
	tree_write(&made_tree, "7/task/9/syscall", "-1 0x333 0x444\n");
	tree_write(&made_tree, "7/task/10/syscall", "junk\n");
	tree_write(&made_tree, "7/task/11/stat", "");
	assert_int_equal(proc_task_read_stack_pointers(&made_fs, 7, &list), 0);
	assert_int_equal(list.count, 2);
	assert_true(list.items[0] + list.items[1] == 0x111 + 0x333);
	assert_int_equal(proc_task_read_stack_pointers(&made_fs, 8, &list), -ESRCH);
	address_list_release(&list);
}

static int count_mapping(void *context, struct mapping *m)
{
	(void)m;
	++*(size_t *)context;
	return 0;
}

static void smaps_of_any_length_are_read_through_small_buffers(void **state)
{
	struct smaps_reader reader;
	struct strbuf text = STRBUF_INIT;
	uint64_t read_ns;
	size_t count = 0;

	(void)state;
	for (int i = 0; i < 1000; i++)
		strbuf_addf(&text, "%x-%x ---p 00000000 00:00 0 /%*s\n%s%s", i * 4096,
			    (i + 1) * 4096, i * 7 % 5000, "x", SMAPS_AMOUNTS_6_18,
			    SMAPS_FLAGS);
	tree_write_bytes(&made_tree, "7/smaps", text.text, text.length);
	smaps_reader_init(&reader);
	assert_int_equal(
		proc_smaps_read(&reader, &made_fs, 7, count_mapping, &count, &read_ns),
		0);
	assert_int_equal(count, 1000);
	tree_write_bytes(&made_tree, "7/smaps", text.text, text.length - 1);
	assert_int_equal(
		proc_smaps_read(&reader, &made_fs, 7, count_mapping, &count, &read_ns),
		-EBADMSG);
	smaps_reader_release(&reader);
	strbuf_release(&text);
}

static void an_endless_record_does_not_grow_the_buffer(void **state)
{
	struct smaps_reader reader;
	char *text = malloc(1000 * 1000);
	uint64_t read_ns;
	size_t count = 0;

	(void)state;
	memset(text, 'x', 1000 * 1000);
	tree_write_bytes(&made_tree, "7/smaps", text, 1000 * 1000);
	smaps_reader_init(&reader);
	assert_int_equal(
		proc_smaps_read(&reader, &made_fs, 7, count_mapping, &count, &read_ns),
		-EBADMSG);
	assert_true(reader.capacity <= 256 * 1024);
	smaps_reader_release(&reader);
	free(text);
}

static void a_rollup_must_be_one_complete_record(void **state)
{
	static const char header[] =
		"55c8df37a000-7ffc5c1d1000 ---p 00000000 00:00 0                          [rollup]";
	static const struct {
		const char *amounts;
		int r;
	} rows[] = {
		{ "\nRss:                 100 kB\nPss:                  50 kB\n", 0 },
		{ "\nRss:                 100 kB\nPss:                  50 kB",
		  -EBADMSG },
		{ "\nRss:                 100 kB\nPss:                  50 MB\n",
		  -EBADMSG },
		{ "\nRss:                 100 kB\n0-1000 ---p 00000000 00:00 0\n"
		  "Rss:                   1 kB\n",
		  -EBADMSG }, /* two records */
		{ "", -EBADMSG },
	};
	struct smaps_reader reader;
	uint64_t read_ns;

	(void)state;
	smaps_reader_init(&reader);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct counters c = { .bytes = { 77 } };
		struct strbuf text = STRBUF_INIT;

		strbuf_addf(&text, "%s%s", header, rows[i].amounts);
		tree_write(&made_tree, "7/smaps_rollup", text.text);
		assert_row(proc_rollup_read(&reader, &made_fs, 7, &c, &read_ns) ==
				   rows[i].r,
			   rows[i].amounts);
		assert_true(c.bytes[SMAPS_SIZE] == (rows[i].r ? 77 : BYTES_UNKNOWN));
		if (rows[i].r == 0)
			assert_true(c.bytes[SMAPS_RSS] == KIB(100));
		strbuf_release(&text);
	}
	tree_write(&made_tree, "7/smaps_rollup", "");
	assert_int_equal(proc_rollup_read(&reader, &made_fs, 7, NULL, &read_ns), -ESRCH);
	smaps_reader_release(&reader);
}

#define test(name) \
	cmocka_unit_test_setup_teardown(name, made_proc_set_up, made_proc_tear_down)

static void a_go_program_is_recognized_by_its_linker_note(void **state)
{
	static const char note[] =
		"\x7f"
		"ELF____________\4\0\0\0\x53\0\0\0\4\0\0\0Go\0\0build id";
	static const char other[] =
		"\x7f"
		"ELF____________\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0Go\0\0";

	(void)state;
	tree_write_bytes(&made_tree, "7/exe", note, sizeof(note));
	tree_write_bytes(&made_tree, "8/exe", other, sizeof(other));
	tree_write(&made_tree, "9/exe", "Go");
	tree_mkfifo(&made_tree, "10/exe");
	assert_true(proc_task_is_go(&made_fs, 7));
	assert_false(proc_task_is_go(&made_fs, 8));
	assert_false(proc_task_is_go(&made_fs, 9));
	assert_false(proc_task_is_go(&made_fs, 10));
	assert_false(proc_task_is_go(&made_fs, 11));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(a_missing_root_is_an_error),
		test(a_captured_tree_is_not_live),
		test(a_gone_process_and_a_missing_file_have_different_errors),
		test(a_missing_permission_is_an_error),
		test(a_fifo_in_a_capture_does_not_block),
		test(paths_consist_of_pid_and_file),
		test(a_stat_of_another_pid_is_refused),
		test(in_a_capture_the_effective_user_comes_from_status),
		test(the_list_contains_only_pids),
		test(a_process_with_an_unreadable_stat_is_listed),
		test(arguments_are_joined_by_blanks),
		test(a_go_program_is_recognized_by_its_linker_note),
		test(a_very_long_command_line_is_truncated),
		test(the_stack_pointer_precedes_the_program_counter),
		test(stack_pointers_of_all_waiting_threads_are_read),
		test(smaps_of_any_length_are_read_through_small_buffers),
		test(an_endless_record_does_not_grow_the_buffer),
		test(a_rollup_must_be_one_complete_record),
	};

	return cmocka_run_group_tests_name("procfs", tests, NULL, NULL);
}
