/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "store/capture/capture.h"

static const char smaps_text[] =
	"00400000-00401000 r--p 00000000 fe:00 12                         /bin/x\n"
	"Rss:                   4 kB\n"
	"VmFlags: rd\n";

struct fixture {
	char folder[64];
	struct procfs fs;
	struct process process;
	struct capture_files files;
	struct strbuf notes;
};

static const char *in_folder(const struct fixture *f, const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", f->folder, name);
	return path;
}

static void put(const struct fixture *f, const char *name, const char *text)
{
	assert_int_equal(
		io_write_file_atomic(in_folder(f, name), text, strlen(text), 0666), 0);
}

/*
 * Make a process as an old kernel shows it: no smaps_rollup,
 * and no files for its threads.
 */
static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->folder, "/tmp/memstate-test.XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	assert_int_equal(mkdir(in_folder(f, "proc"), 0700), 0);
	assert_int_equal(mkdir(in_folder(f, "proc/7"), 0700), 0);
	put(f, "proc/7/stat",
	    "7 (x) S 1 7 7 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 500 4096 1 0\n");
	put(f, "proc/7/smaps", smaps_text);
	put(f, "proc/7/cmdline", "x");
	put(f, "proc/stat", "cpu 1\nbtime 1234\nprocesses 9\n");
	put(f, "proc/uptime", "5.0 5.0\n");
	f->fs = (struct procfs)PROCFS_INIT;
	assert_int_equal(procfs_open(&f->fs, in_folder(f, "proc")), 0);
	f->process = (struct process){ .pid = 7, .state = 'S', .start_ticks = 500 };
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char command[128];

	procfs_release(&f->fs);
	capture_files_release(&f->files);
	strbuf_release(&f->notes);
	snprintf(command, sizeof(command), "rm -rf '%s'", f->folder);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static const char *find_file(const struct fixture *f, const char *path)
{
	for (size_t i = 0; i < f->files.count; i++)
		if (strcmp(f->files.items[i].path, path) == 0)
			return strbuf_text(&f->files.items[i].bytes);
	return NULL;
}

static size_t count_entries(const struct fixture *f)
{
	DIR *dir = opendir(f->folder);
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2; /* without "." and ".." */
}

static int read_process(struct fixture *f)
{
	return capture_read_process(&f->fs, &f->process, NULL, &f->files, &f->notes);
}

static void missing_files_are_noted(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_process(f), 0);
	assert_string_equal(find_file(f, "7/smaps"), smaps_text);
	assert_string_equal(find_file(f, "7/cmdline"), "x");
	assert_null(find_file(f, "7/mountinfo"));
	assert_non_null(
		strstr(strbuf_text(&f->notes), "left_out: 7/smaps_rollup: not there\n"));
	assert_non_null(strstr(f->notes.text, "left_out: 7/mountinfo: not there\n"));
}

static void a_process_with_a_reused_pid_is_not_captured(void **state)
{
	struct fixture *f = *state;

	f->process.start_ticks = 499;
	assert_int_equal(read_process(f), -ESRCH);
	assert_int_equal(f->files.count, 0);
	assert_int_equal(f->notes.length, 0);
}

static void a_process_whose_memory_map_was_replaced_is_not_captured(void **state)
{
	struct fixture *f = *state;

	put(f, "proc/7/smaps", "");
	assert_int_equal(read_process(f), -ESTALE);
	assert_int_equal(f->files.count, 0);
}

static void a_process_without_smaps_is_not_captured(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(unlink(in_folder(f, "proc/7/smaps")), 0);
	assert_int_equal(read_process(f), -EOPNOTSUPP);
	f->process.pid = 8;
	assert_int_equal(read_process(f), -ESRCH);
	assert_int_equal(f->files.count, 0);
}

static void a_zombie_needs_no_smaps(void **state)
{
	struct fixture *f = *state;

	f->process.state = 'Z';
	assert_int_equal(read_process(f), 0);
	assert_null(find_file(f, "7/smaps"));
	assert_non_null(find_file(f, "7/stat"));
}

static void a_process_that_cannot_be_redacted_is_not_captured(void **state)
{
	struct fixture *f = *state;
	struct redactor *redactor = redactor_new();

	put(f, "proc/7/smaps", "/home/ada\n");
	assert_int_equal(
		capture_read_process(&f->fs, &f->process, redactor, &f->files, &f->notes),
		-EBADMSG);
	assert_int_equal(f->files.count, 0);
	redactor_free(redactor);
}

static void only_the_boot_time_of_stat_is_captured(void **state)
{
	struct fixture *f = *state;

	capture_read_machine(&f->fs, &f->files, &f->notes);
	assert_string_equal(find_file(f, "stat"), "btime 1234\n");
	assert_string_equal(find_file(f, "uptime"), "5.0 5.0\n");
	assert_non_null(strstr(strbuf_text(&f->notes), "left_out: meminfo: not there\n"));
}

static void a_capture_reads_like_the_original_proc(void **state)
{
	struct fixture *f = *state;
	struct procfs saved = PROCFS_INIT;
	struct capture *c;
	struct strbuf text = STRBUF_INIT;

	assert_int_equal(read_process(f), 0);
	assert_int_equal(capture_begin(in_folder(f, "out/"), &c), 0);
	assert_int_equal(capture_add(c, &f->files), 0);
	assert_int_equal(capture_finish(c), 0);
	capture_free(c);
	assert_int_equal(count_entries(f), 2);
	assert_int_equal(procfs_open(&saved, in_folder(f, "out")), 0);
	assert_int_equal(procfs_read_file(&saved, 7, "smaps", 4096, &text), 0);
	assert_string_equal(text.text, smaps_text);
	strbuf_release(&text);
	procfs_release(&saved);
}

static void an_unfinished_capture_leaves_no_files(void **state)
{
	static const char *const names[] = { "out", "out.tar" };
	struct fixture *f = *state;

	assert_int_equal(read_process(f), 0);
	for (size_t i = 0; i < 2; i++) {
		struct capture *c;

		assert_int_equal(capture_begin(in_folder(f, names[i]), &c), 0);
		assert_int_equal(count_entries(f), 2);
		assert_int_equal(capture_add(c, &f->files), 0);
		capture_free(c);
		assert_int_equal(count_entries(f), 1);
	}
}

static void existing_files_are_not_replaced(void **state)
{
	struct fixture *f = *state;
	struct capture *c;

	assert_int_equal(capture_begin(in_folder(f, "proc"), &c), -ENOTEMPTY);
	assert_int_equal(capture_begin(in_folder(f, "proc/stat"), &c), -EEXIST);
	assert_int_equal(capture_begin(in_folder(f, "none/out"), &c), -ENOENT);
	assert_int_equal(capture_begin("", &c), -EINVAL);
	/* meanwhile another process makes a folder of that name */
	assert_int_equal(capture_begin(in_folder(f, "out"), &c), 0);
	assert_int_equal(mkdir(in_folder(f, "out"), 0700), 0);
	put(f, "out/theirs", "x");
	assert_int_equal(capture_finish(c), -ENOTEMPTY);
	capture_free(c);
	assert_int_equal(count_entries(f), 2);
	assert_int_equal(access(in_folder(f, "out/theirs"), F_OK), 0);
}

static void an_empty_directory_is_filled(void **state)
{
	struct fixture *f = *state;
	struct capture *c;

	assert_int_equal(mkdir(in_folder(f, "out"), 0700), 0);
	assert_int_equal(capture_begin(in_folder(f, "out"), &c), 0);
	capture_describe(&f->fs, true, 0, &f->notes, &f->files);
	assert_int_equal(capture_add(c, &f->files), 0);
	assert_int_equal(capture_finish(c), 0);
	capture_free(c);
	assert_int_equal(access(in_folder(f, "out/memstate-capture"), F_OK), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(missing_files_are_noted),
		TEST(a_process_with_a_reused_pid_is_not_captured),
		TEST(a_process_whose_memory_map_was_replaced_is_not_captured),
		TEST(a_process_without_smaps_is_not_captured),
		TEST(a_zombie_needs_no_smaps),
		TEST(a_process_that_cannot_be_redacted_is_not_captured),
		TEST(only_the_boot_time_of_stat_is_captured),
		TEST(a_capture_reads_like_the_original_proc),
		TEST(an_unfinished_capture_leaves_no_files),
		TEST(existing_files_are_not_replaced),
		TEST(an_empty_directory_is_filled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
