/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/system/foreign_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../support/unit.h"
#include "base/cleanup.h"

#define LIMIT 100

static char dir[] = "/tmp/memstate-test-foreign.XXXXXX";
static int tree_fd, top_fd;

static void write_file(int fd, const char *path, const char *text)
{
	_cleanup_close_ int file = openat(fd, path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
}

/* Make a tree with symlinks of all kinds, and a file outside of it. */
static int make_tree(void **state)
{
	static const struct {
		const char *to, *from;
	} links[] = {
		{ "file", "link" },	   { "/folder/inner", "absolute" },
		{ "folder", "to_folder" }, { "../../../../../../folder/inner", "climbs" },
		{ "../secret", "leaves" }, { "/etc/passwd", "leaves_by_root" },
		{ "nothing", "dangling" }, { "loop", "loop" },
		{ "/dev/full", "device" }, { "file/", "file_as_folder" },
		{ "..", "top" },
	};

	(void)state;
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	top_fd = open(dir, O_RDONLY | O_DIRECTORY);
	write_file(top_fd, "secret", "secret");
	assert_int_equal(mkdirat(top_fd, "tree", 0700), 0);
	tree_fd = openat(top_fd, "tree", O_PATH | O_DIRECTORY);
	assert_true(tree_fd >= 0);
	write_file(tree_fd, "file", "text");
	write_file(tree_fd, "empty", "");
	assert_int_equal(mkdirat(tree_fd, "folder", 0700), 0);
	write_file(tree_fd, "folder/inner", "inner");
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		assert_int_equal(symlinkat(links[i].to, tree_fd, links[i].from), 0);
	assert_int_equal(mkfifoat(tree_fd, "fifo", 0600), 0);
	write_file(tree_fd, "sparse", "");
	return 0;
}

static int remove_tree(void **state)
{
	char command[sizeof(dir) + 16];

	(void)state;
	close(tree_fd);
	close(top_fd);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static void assert_reads(const char *path, const char *text)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	strbuf_add_text(&out, "before ");
	assert_int_equal(foreign_file_read(tree_fd, path, LIMIT, &out), 0);
	assert_memory_equal(strbuf_text(&out), "before ", 7);
	assert_string_equal(strbuf_text(&out) + 7, text);
}

static void assert_refused(const char *path, int r)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	strbuf_add_text(&out, "before");
	assert_int_equal(foreign_file_read(tree_fd, path, LIMIT, &out), r);
	assert_string_equal(strbuf_text(&out), "before");
}

static void files_in_the_tree_are_read_also_through_symlinks(void **state)
{
	(void)state;
	assert_reads("file", "text");
	assert_reads("/file", "text");
	assert_reads("//.//file", "text");
	assert_reads("empty", "");
	assert_reads("link", "text");
	assert_reads("absolute", "inner");
	assert_reads("to_folder/inner", "inner");
	assert_reads("folder/../file", "text");
	assert_reads("to_folder/../file", "text");
}

static void no_path_leads_out_of_the_tree(void **state)
{
	(void)state;
	assert_reads("climbs", "inner");
	assert_reads("../../file", "text");
	assert_reads("top/file", "text");
	assert_refused("leaves", -ENOENT);
	assert_refused("../secret", -ENOENT);
	assert_refused("folder/../../secret", -ENOENT);
	assert_refused("leaves_by_root", -ENOENT);
	assert_refused("/etc/passwd", -ENOENT);
	assert_refused("dangling", -ENOENT);
	assert_refused("loop", -ELOOP);
}

static void only_regular_files_are_read(void **state)
{
	(void)state;
	assert_refused("fifo", -EBADMSG);
	assert_refused("folder", -EBADMSG);
	assert_refused("/", -EBADMSG);
	assert_refused("", -EBADMSG);
	assert_refused("file/", -ENOTDIR);
	assert_refused("file_as_folder", -ENOTDIR);
	assert_refused("file/inner", -ENOTDIR);
	assert_int_equal(foreign_file_open_dir(tree_fd, "file"), -ENOTDIR);
	assert_int_equal(foreign_file_open_dir(tree_fd, "fifo"), -ENOTDIR);
}

static void a_file_larger_than_the_limit_is_refused_before_it_is_read(void **state)
{
	char path[sizeof(dir) + 16];

	(void)state;
	snprintf(path, sizeof(path), "%s/tree/sparse", dir);
	assert_int_equal(truncate(path, LIMIT + 1), 0);
	assert_refused("sparse", -EFBIG);
	assert_int_equal(truncate(path, (off_t)1 << 42), 0);
	assert_refused("sparse", -EFBIG);
	assert_int_equal(truncate(path, LIMIT), 0);
	assert_int_equal(close(foreign_file_open(tree_fd, "sparse", LIMIT)), 0);
}

/*
 * Assert that the file is looked up without being opened: opening it, even without
 * blocking, would cause an inotify event.
 */
static void assert_never_opened(int root_fd, const char *path, const char *watched,
				int result)
{
	_cleanup_close_ int notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char event[4096];
	int fd;
	_cleanup_close_ int process_fd = open("/proc/self", O_PATH | O_CLOEXEC);

	assert_true(inotify_add_watch(notify, watched, IN_OPEN) >= 0);
	assert_int_equal(foreign_file_open(root_fd, path, LIMIT), result);
	assert_int_equal(foreign_file_open_link(process_fd, watched, LIMIT), result);
	assert_int_equal(read(notify, event, sizeof(event)), -1);
	assert_int_equal(errno, EAGAIN);
	fd = open(watched, O_RDONLY | O_NONBLOCK);
	assert_true(fd >= 0);
	close(fd);
	assert_true(read(notify, event, sizeof(event)) > 0);
}

static void devices_fifos_and_large_files_are_never_opened(void **state)
{
	char path[sizeof(dir) + 16];

	(void)state;
	assert_never_opened(FOREIGN_OWN_ROOT, "/dev/full", "/dev/full", -EBADMSG);
	snprintf(path, sizeof(path), "%s/tree/fifo", dir);
	assert_never_opened(tree_fd, "fifo", path, -EBADMSG);
	snprintf(path, sizeof(path), "%s/tree/sparse", dir);
	assert_int_equal(truncate(path, LIMIT + 1), 0);
	assert_never_opened(tree_fd, "sparse", path, -EFBIG);
}

static void magic_links_and_kernel_files_are_refused(void **state)
{
	_cleanup_close_ int process_fd = -1;
	_cleanup_close_ int own_fd = -1;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", tree_fd);
	own_fd = foreign_file_open_dir(FOREIGN_OWN_ROOT, path);
	assert_int_equal(own_fd, -ELOOP);
	assert_int_equal(foreign_file_open(FOREIGN_OWN_ROOT, "/proc/self/exe", 1 << 30),
			 -ELOOP);
	snprintf(path, sizeof(path), "/proc/%d/status", getpid());
	assert_int_equal(foreign_file_open(FOREIGN_OWN_ROOT, path, LIMIT), -EBADMSG);
	process_fd = open("/proc/self", O_PATH | O_CLOEXEC);
	own_fd = foreign_file_open_link(process_fd, "exe", FOREIGN_ELF_BYTES_MAX);
	assert_true(own_fd >= 0);
}

static void a_symlink_itself_is_found_on_request(void **state)
{
	_cleanup_close_ int link =
		foreign_file_find(tree_fd, "to_folder/../dangling", true);
	_cleanup_close_ int folder = foreign_file_find(tree_fd, "to_folder", false);
	struct stat st;

	(void)state;
	assert_int_equal(fstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(fstat(folder, &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_true(fcntl(folder, F_GETFL) & O_PATH);
}

static void no_descriptor_is_leaked(void **state)
{
	static const char *const paths[] = { "file",   "fifo",
					     "leaves", "to_folder/../link",
					     "climbs", "sparse",
					     "loop",   "file/inner" };
	int before = dup(tree_fd), after;

	(void)state;
	close(before);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		_cleanup_close_ int fd = foreign_file_open(tree_fd, paths[i], LIMIT);
		_cleanup_close_ int folder = foreign_file_open_dir(tree_fd, paths[i]);

		(void)fd;
		(void)folder;
	}
	after = dup(tree_fd);
	close(after);
	assert_int_equal(after, before);
}

/* Make openat2() fail with ENOSYS, as on a kernel that lacks it. */
static int forbid_openat2(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(filter), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return -1;
	return syscall(SYS_openat2, -1, NULL, NULL, 0) < 0 && errno == ENOSYS ? 0 : -1;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_tree, remove_tree)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_in_the_tree_are_read_also_through_symlinks),
		TEST(no_path_leads_out_of_the_tree),
		TEST(only_regular_files_are_read),
		TEST(a_file_larger_than_the_limit_is_refused_before_it_is_read),
		TEST(devices_fifos_and_large_files_are_never_opened),
		TEST(magic_links_and_kernel_files_are_refused),
		TEST(a_symlink_itself_is_found_on_request),
		TEST(no_descriptor_is_leaked),
	};
	int failed = cmocka_run_group_tests_name("foreign_file", tests, NULL, NULL);

	if (forbid_openat2() < 0) {
		fputs("no seccomp filter can be installed: the lookup by hand is not tested\n",
		      stderr);
		return failed;
	}
	return failed +
	       cmocka_run_group_tests_name("foreign_file, by hand", tests, NULL, NULL);
}
