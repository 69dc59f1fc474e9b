/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "../../support/tree.h"
#include "../../support/unit.h"

/*
 * A stand-in for /proc/PID: its root, exe and map_files lead to
 * files that a test puts there.
 */
static struct tree tree;
static int process_fd;

#define LINK "map_files/1000-2000"

static int make(void **state)
{
	(void)state;
	tree_make(&tree);
	tree_write(&tree, "root/lib/library.so", "library");
	tree_write(&tree, "outside", "library");
	tree_write(&tree, "map_files/other", "");
	process_fd = open(tree.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return process_fd < 0;
}

static int clean(void **state)
{
	(void)state;
	close(process_fd);
	tree_remove(&tree);
	return 0;
}

/* Return a mapping of the file that is at path now. */
static struct mapping mapping_of(const char *path, const char *name)
{
	struct mapping m = { .start_addr = 0x1000, .end_addr = 0x2000, .name = name };
	struct stat st;

	assert_int_equal(fstatat(process_fd, path, &st, 0), 0);
	m.inode = st.st_ino;
	m.dev_major = major(st.st_dev);
	m.dev_minor = minor(st.st_dev);
	return m;
}

static void assert_opens(const struct mapping *m)
{
	_cleanup_close_ int fd = mapped_file_open(process_fd, m);
	char bytes[8] = "";

	assert_true(fd >= 0);
	assert_int_equal(read(fd, bytes, 7), 7);
	assert_string_equal(bytes, "library");
}

static void a_file_is_opened_through_map_files_or_below_the_root(void **state)
{
	struct mapping m = mapping_of("root/lib/library.so", "/lib/library.so");

	(void)state;
	assert_opens(&m);
	m.name = "/gone (deleted)";
	assert_int_equal(mapped_file_open(process_fd, &m), -ENOENT);
	assert_int_equal(symlinkat("../root/lib/library.so", process_fd, LINK), 0);
	assert_opens(&m);
}

static void symlinks_cannot_leave_the_root(void **state)
{
	struct mapping m = mapping_of("outside", "/lib/link.so");
	char path[64];

	(void)state;
	assert_int_equal(symlinkat("../../outside", process_fd, "root/lib/link.so"), 0);
	assert_int_equal(mapped_file_open(process_fd, &m), -ENOENT);
	snprintf(path, sizeof(path), "%s/outside", tree.root);
	assert_int_equal(symlinkat(path, process_fd, "root/lib/absolute.so"), 0);
	m.name = "/lib/absolute.so";
	assert_int_equal(mapped_file_open(process_fd, &m), -ENOENT);
	m.name = "/../outside";
	assert_int_equal(mapped_file_open(process_fd, &m), -ENOENT);
}

static void only_regular_files_are_opened(void **state)
{
	_cleanup_close_ int notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char path[64], event[4096];
	struct mapping m;

	(void)state;
	tree_mkfifo(&tree, "root/fifo");
	m = mapping_of("root/fifo", "/fifo");
	assert_int_equal(symlinkat("../root/fifo", process_fd, LINK), 0);
	assert_int_equal(symlinkat("root/fifo", process_fd, "exe"), 0);
	snprintf(path, sizeof(path), "%s/root/fifo", tree.root);
	assert_true(inotify_add_watch(notify, path, IN_OPEN) >= 0);
	assert_int_equal(mapped_file_open(process_fd, &m), -EBADMSG);
	assert_int_equal(read(notify, event, sizeof(event)), -1);
	assert_int_equal(errno, EAGAIN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_is_opened_through_map_files_or_below_the_root),
		TEST(symlinks_cannot_leave_the_root),
		TEST(only_regular_files_are_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
