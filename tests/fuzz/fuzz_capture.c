/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A captured tree of one process. The input contains the texts of its files in the order
 * below, each terminated by a line "====".
 */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "fuzz.h"
#include "proc/process/stat.h"
#include "sample/process/captured_moment.h"
#include "store/capture/read.h"

#define END "====\n"

static const char *const files[] = {
	"7/stat",	    "7/smaps", "7/smaps_rollup", "7/status",	  "7/comm",
	"7/cmdline",	    "7/statm", "7/mountinfo",	 "7/task/7/stat", "7/task/7/comm",
	"7/task/7/syscall", "meminfo", "uptime",	 "version",	  "stat",
	"capture_info",
};
#define FILE_COUNT (sizeof(files) / sizeof(files[0]))

static char root[64];
static int root_fd = -1;

static void remove_tree(void)
{
	static const char *const folders[] = { "7/task/7", "7/task", "7" };

	for (size_t i = 0; i < FILE_COUNT; i++)
		unlinkat(root_fd, files[i], 0);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		unlinkat(root_fd, folders[i], AT_REMOVEDIR);
	rmdir(root);
}

static void make_tree(void)
{
	snprintf(root, sizeof(root), "/dev/shm/memstate-fuzz-XXXXXX");
	if (!mkdtemp(root)) {
		snprintf(root, sizeof(root), "/tmp/memstate-fuzz-XXXXXX");
		CHECK(mkdtemp(root));
	}
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CHECK(root_fd >= 0 && mkdirat(root_fd, "7", 0700) == 0 &&
	      mkdirat(root_fd, "7/task", 0700) == 0 &&
	      mkdirat(root_fd, "7/task/7", 0700) == 0);
	CHECK(atexit(remove_tree) == 0);
}

/* Write the next file, without its terminator, and advance to the rest of the input. */
static void write_part(const char *name, const uint8_t **at, size_t *left)
{
	const uint8_t *end = memmem(*at, *left, END, strlen(END));
	size_t length = end ? (size_t)(end - *at) : *left;
	int fd = openat(root_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && io_write_all(fd, *at, length) == 0);
	close(fd);
	length += end ? strlen(END) : 0;
	*at += length;
	*left -= length;
}

static void check_copy(const struct procfs *fs, const struct process *p,
		       struct redactor *redactor)
{
	struct capture_files copy = CAPTURE_FILES_INIT;
	struct strbuf notes = STRBUF_INIT;

	if (capture_read_process(fs, p, redactor, &copy, &notes) < 0)
		CHECK(copy.count == 0);
	capture_read_machine(fs, &copy, &notes);
	for (size_t i = 0; i < copy.count; i++)
		CHECK(!strstr(copy.items[i].path, ".."));
	capture_files_release(&copy);
	strbuf_release(&notes);
}

static void check_moment(void)
{
	struct targets targets = { 0 };
	struct moment moment;

	memset(&moment, 0, sizeof(moment));
	if (captured_moment_read(root, &targets, &moment) == 0)
		moment_release(&moment);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct process process = { .pid = 7, .state = 'S' };
	struct redactor *redactor = redactor_new();
	struct procfs fs;

	if (root_fd < 0)
		make_tree();
	for (size_t i = 0; i < FILE_COUNT; i++)
		write_part(files[i], &data, &size);
	CHECK(procfs_open(&fs, root) == 0);
	(void)proc_stat_read(&fs, 7, &process);
	check_copy(&fs, &process, NULL);
	check_copy(&fs, &process, redactor);
	procfs_release(&fs);
	redactor_free(redactor);
	check_moment();
	return 0;
}
