/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/system/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "proc/system/foreign_file.h"

/*
 * Maximum size of a file in a capture: sufficient for the smaps of a process with the
 * maximum number of mappings.
 */
#define CAPTURED_BYTES_MAX (UINT64_C(512) << 20)

/* Size of a buffer for a pid or "thread-self". */
#define PID_SIZE 12

static bool is_proc(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/*
 * Return true if the pids in this /proc belong to memstate's pid namespace. They belong
 * to another namespace after an unshare(1) that does not mount a new /proc. System calls
 * with such pids would then affect other processes.
 */
static bool has_own_pids(int fd)
{
	char self[32] = "";

	return readlinkat(fd, "self", self, sizeof(self) - 1) > 0 &&
	       strtol(self, NULL, 10) == getpid();
}

/*
 * Return true if fd is the /proc directory that libproc2 reads. Another mount of proc may
 * show a different pid namespace.
 */
static bool is_live_proc(int fd)
{
	struct stat ours, theirs;

	return is_proc(fd) && fstat(fd, &ours) == 0 && stat("/proc", &theirs) == 0 &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino &&
	       has_own_pids(fd);
}

int procfs_open(struct procfs *fs, const char *root)
{
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	fs->fd = fd;
	fs->is_live = is_live_proc(fd);
	fs->is_foreign = !is_proc(fd);
	return 0;
}

void procfs_release(struct procfs *fs)
{
	if (fs->fd >= 0)
		close(fs->fd);
	*fs = (struct procfs)PROCFS_INIT;
}

static char *format_pid(char *to, int pid)
{
	unsigned int rest = pid > 0 ? (unsigned int)pid : 0;
	char digits[PID_SIZE];
	size_t at = 0;

	do {
		digits[at++] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	while (at > 0)
		*to++ = digits[--at];
	return to;
}

void procfs_format_path(char path[PROCFS_PATH_SIZE], int pid, const char *file)
{
	size_t length = strlen(file);

	if (pid == PROCFS_SELF)
		path = stpcpy(path, "self");
	else if (pid == PROCFS_THREAD_SELF)
		path = stpcpy(path, "thread-self");
	else
		path = format_pid(path, pid);
	*path++ = '/';
	if (length > PROCFS_PATH_SIZE - PID_SIZE - 2)
		length = PROCFS_PATH_SIZE - PID_SIZE - 2;
	memcpy(path, file, length);
	path[length] = '\0';
}

void procfs_format_fd_path(char path[PROCFS_FD_PATH_SIZE], int fd)
{
	snprintf(path, PROCFS_FD_PATH_SIZE, "/proc/self/fd/%d", fd);
}

int procfs_reopen(int fd, int flags)
{
	char path[PROCFS_FD_PATH_SIZE];
	int reopened;

	procfs_format_fd_path(path, fd);
	reopened = open(path, flags);
	return reopened < 0 ? -errno : reopened;
}

int procfs_normalize_errno(int err)
{
	return err == ENOENT ? -ESRCH : -err;
}

/*
 * Open a file or a directory. In a captured tree, open only files that foreign_file
 * accepts.
 */
static int open_below(const struct procfs *fs, int dir_fd, const char *path)
{
	int fd;

	if (!fs->is_foreign) {
		fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		return fd < 0 ? -errno : fd;
	}
	fd = foreign_file_open(dir_fd, path, CAPTURED_BYTES_MAX);
	if (fd != -EBADMSG)
		return fd;
	fd = foreign_file_open_dir(dir_fd, path);
	return fd == -ENOTDIR ? -EBADMSG : fd;
}

int procfs_open_path(const struct procfs *fs, const char *path)
{
	return open_below(fs, fs->fd, path);
}

int procfs_read_below(const struct procfs *fs, int dir_fd, const char *path, size_t limit,
		      struct strbuf *out)
{
	_cleanup_close_ int fd = open_below(fs, dir_fd, path);

	return fd < 0 ? fd : io_read_all(fd, limit, out);
}

int procfs_read_path(const struct procfs *fs, const char *path, size_t limit,
		     struct strbuf *out)
{
	return procfs_read_below(fs, fs->fd, path, limit, out);
}

int procfs_stat_path(const struct procfs *fs, const char *path, struct stat *ret)
{
	_cleanup_close_ int fd = -1;

	if (!fs->is_foreign)
		return fstatat(fs->fd, path, ret, 0) < 0 ? -errno : 0;
	fd = foreign_file_find(fs->fd, path, false);
	if (fd < 0)
		return fd;
	return fstat(fd, ret) < 0 ? -errno : 0;
}

int procfs_read_link(const struct procfs *fs, int pid, const char *file, char *ret,
		     size_t size)
{
	_cleanup_close_ int fd = -1;
	char path[PROCFS_PATH_SIZE];
	ssize_t n;

	procfs_format_path(path, pid, file);
	if (fs->is_foreign) {
		fd = foreign_file_find(fs->fd, path, true);
		if (fd < 0)
			return procfs_normalize_errno(-fd);
		n = readlinkat(fd, "", ret, size - 1);
	} else {
		n = readlinkat(fs->fd, path, ret, size - 1);
	}
	if (n < 0)
		return procfs_normalize_errno(errno);
	ret[n] = '\0';
	return 0;
}

int procfs_open_file(const struct procfs *fs, int pid, const char *file)
{
	char path[PROCFS_PATH_SIZE];
	struct stat st;
	int fd;

	procfs_format_path(path, pid, file);
	fd = procfs_open_path(fs, path);
	if (fd >= 0)
		return fd;
	if (fd == -ENOENT) {
		procfs_format_path(path, pid, "");
		if (procfs_stat_path(fs, path, &st) == 0)
			return -EOPNOTSUPP;
	}
	return procfs_normalize_errno(-fd);
}

int procfs_read_file(const struct procfs *fs, int pid, const char *file, size_t limit,
		     struct strbuf *out)
{
	_cleanup_close_ int fd = procfs_open_file(fs, pid, file);
	int r;

	if (fd < 0)
		return fd;
	r = io_read_all(fd, limit, out);
	return r < 0 ? procfs_normalize_errno(-r) : 0;
}
