/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

/* Another mount of proc may show another pid namespace, so only "/proc" itself is libproc2's. */
static bool is_live_proc(int fd)
{
	struct stat ours, theirs;
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC && fstat(fd, &ours) == 0 &&
	       stat("/proc", &theirs) == 0 && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}

int procfs_open(struct procfs *fs, const char *root)
{
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	fs->fd = fd;
	fs->is_live = is_live_proc(fd);
	return 0;
}

void procfs_release(struct procfs *fs)
{
	if (fs->fd >= 0)
		close(fs->fd);
	*fs = (struct procfs)PROCFS_INIT;
}

void procfs_format_path(char path[PROCFS_PATH_SIZE], int pid, const char *file)
{
	unsigned int rest = pid > 0 ? (unsigned int)pid : 0;
	size_t length = strlen(file);
	char digits[12];
	size_t at = 0;

	do {
		digits[at++] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	while (at > 0)
		*path++ = digits[--at];
	*path++ = '/';
	if (length > PROCFS_PATH_SIZE - sizeof(digits) - 2)
		length = PROCFS_PATH_SIZE - sizeof(digits) - 2;
	memcpy(path, file, length);
	path[length] = '\0';
}

int procfs_fold_errno(int err)
{
	return err == ENOENT ? -ESRCH : -err;
}

int procfs_open_file(const struct procfs *fs, int pid, const char *file)
{
	char path[PROCFS_PATH_SIZE];
	int fd, err;

	procfs_format_path(path, pid, file);
	/* a captured tree is foreign too: a fifo in it must not be waited for */
	fd = openat(fs->fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0)
		return fd;
	err = errno;
	if (err == ENOENT) {
		procfs_format_path(path, pid, "");
		if (faccessat(fs->fd, path, F_OK, 0) == 0)
			return -EOPNOTSUPP;
	}
	return procfs_fold_errno(err);
}

int procfs_read_file(const struct procfs *fs, int pid, const char *file, size_t limit,
		     struct strbuf *out)
{
	_cleanup_close_ int fd = procfs_open_file(fs, pid, file);
	int r;

	if (fd < 0)
		return fd;
	r = io_read_all(fd, limit, out);
	return r < 0 ? procfs_fold_errno(-r) : 0;
}
