/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <signal.h>

#include "base/cleanup.h"
#include "../support/unit.h"

static char dir[] = "/tmp/memstate-test-io.XXXXXX";
static char path[sizeof(dir) + 16];

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/file", dir);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	chmod(dir, 0700);
	unlink(path);
	return rmdir(dir);
}

static size_t count_entries(void)
{
	_cleanup_closedir_ DIR *d = opendir(dir);
	size_t count = 0;

	assert_non_null(d);
	while (readdir(d))
		count++;
	return count - 2;
}

static void assert_file_holds(const char *text)
{
	struct strbuf sb = STRBUF_INIT;

	assert_int_equal(io_read_file_at(AT_FDCWD, path, 1000, &sb), 0);
	assert_string_equal(strbuf_text(&sb), text);
	strbuf_release(&sb);
}

static void a_file_is_replaced_atomically(void **state)
{
	(void)state;
	assert_int_equal(io_write_file_atomic(path, "old\n", 4, 0666), 0);
	assert_file_holds("old\n");
	assert_int_equal(io_write_file_atomic(path, "a longer one\n", 13, 0666), 0);
	assert_file_holds("a longer one\n");
	assert_int_equal(count_entries(), 1);
}

static void a_new_file_obeys_the_umask(void **state)
{
	mode_t before = umask(027);
	struct stat st;

	(void)state;
	assert_int_equal(io_write_file_atomic(path, "x", 1, 0666), 0);
	umask(before);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
}

static void a_file_may_be_private_to_its_owner(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(io_write_file_atomic(path, "x", 1, 0600), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void a_symlinks_target_is_replaced(void **state)
{
	char target[sizeof(dir) + 16];
	struct stat st;

	(void)state;
	snprintf(target, sizeof(target), "%s/target", dir);
	assert_int_equal(symlink("target", path), 0);
	assert_int_equal(io_write_file_atomic(path, "x", 1, 0666), -ENOENT);
	assert_int_equal(io_write_file_atomic(target, "old\n", 4, 0666), 0);
	assert_int_equal(io_write_file_atomic(path, "new\n", 4, 0666), 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_file_holds("new\n");
	assert_int_equal(count_entries(), 2);
	assert_int_equal(unlink(target), 0);
}

static void a_special_file_is_written_directly(void **state)
{
	struct stat st;
	char text[8];
	int fd;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(io_write_file_atomic(path, "new\n", 4, 0666), 0);
	assert_int_equal(read(fd, text, sizeof(text)), 4);
	close(fd);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(count_entries(), 1);
}

/* The write fails half-way, as on a full disk. */
static void a_failed_write_leaves_only_the_old_file(void **state)
{
	struct rlimit before, small = { 8192, 8192 };
	char big[20000];
	int r;

	(void)state;
	memset(big, 'x', sizeof(big));
	assert_int_equal(io_write_file_atomic(path, "old\n", 4, 0666), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	r = io_write_file_atomic(path, big, sizeof(big), 0666);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(r, -EFBIG);
	assert_file_holds("old\n");
	assert_int_equal(count_entries(), 1);
}

static void a_failed_rename_leaves_no_temporary_file(void **state)
{
	(void)state;
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(io_write_file_atomic(path, "x", 1, 0666), -EISDIR);
	assert_int_equal(count_entries(), 1);
	assert_int_equal(rmdir(path), 0);
}

static void a_missing_folder_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(io_write_file_atomic("/nonexistent/folder/file", "x", 1, 0666),
			 -ENOENT);
}

static void a_read_past_the_limit_adds_nothing(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	(void)state;
	assert_int_equal(io_write_file_atomic(path, "0123456789", 10, 0666), 0);
	strbuf_add_text(&sb, "before:");
	assert_int_equal(io_read_file_at(AT_FDCWD, path, 9, &sb), -EFBIG);
	assert_string_equal(strbuf_text(&sb), "before:");
	assert_int_equal(io_read_file_at(AT_FDCWD, path, 10, &sb), 0);
	assert_string_equal(strbuf_text(&sb), "before:0123456789");
	strbuf_release(&sb);
}

/*
 * These replace the functions of the C library in this program, to see which calls the
 * code under test makes.
 */
static size_t synced_dirs, synced_files, umask_calls;

int fsync(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	*(S_ISDIR(st.st_mode) ? &synced_dirs : &synced_files) += 1;
	return (int)syscall(SYS_fsync, fd);
}

mode_t umask(mode_t mask)
{
	umask_calls++;
	return (mode_t)syscall(SYS_umask, mask);
}

static void a_replaced_file_survives_a_power_loss(void **state)
{
	(void)state;
	synced_dirs = synced_files = 0;
	assert_int_equal(io_write_file_atomic(path, "x", 1, 0666), 0);
	assert_int_equal(synced_files, 1);
	assert_int_equal(synced_dirs, 1);
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(io_write_file_atomic("file", "y", 1, 0666), 0);
	assert_int_equal(synced_files, 2);
	assert_int_equal(synced_dirs, 2);
	assert_file_holds("y");
	assert_int_equal(count_entries(), 1);
	assert_int_equal(chdir("/"), 0);
}

static void the_umask_is_not_changed(void **state)
{
	size_t before = umask_calls;

	(void)state;
	assert_int_equal(io_write_file_atomic(path, "x", 1, 0666), 0);
	assert_int_equal(umask_calls, before);
}

static void a_read_error_is_returned(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	(void)state;
	assert_int_equal(io_read_file_at(AT_FDCWD, dir, 100, &sb), -EISDIR);
	assert_int_equal(io_read_file_at(AT_FDCWD, path, 100, &sb), -ENOENT);
	assert_int_equal(sb.length, 0);
	strbuf_release(&sb);
}

static void a_full_device_is_an_error(void **state)
{
	int fd = open("/dev/full", O_WRONLY);

	(void)state;
	if (fd < 0)
		skip();
	assert_int_equal(io_write_all(fd, "x", 1), -ENOSPC);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_is_replaced_atomically, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(a_new_file_obeys_the_umask, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(the_umask_is_not_changed, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(a_replaced_file_survives_a_power_loss,
						make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(a_file_may_be_private_to_its_owner,
						make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(a_symlinks_target_is_replaced, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(a_special_file_is_written_directly,
						make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(a_failed_write_leaves_only_the_old_file,
						make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(a_failed_rename_leaves_no_temporary_file,
						make_dir, remove_dir),
		cmocka_unit_test(a_missing_folder_is_an_error),
		cmocka_unit_test_setup_teardown(a_read_past_the_limit_adds_nothing,
						make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(a_read_error_is_returned, make_dir,
						remove_dir),
		cmocka_unit_test(a_full_device_is_an_error),
	};

	return cmocka_run_group_tests_name("io", tests, NULL, NULL);
}
