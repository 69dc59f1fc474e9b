/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procfs - access to /proc of the running kernel, or to a captured copy of its files. All
 * paths are relative to its root directory.
 *
 * Errors are mapped to common codes. -ESRCH means that the process no longer exists,
 * whether the kernel reported ENOENT or ESRCH. -EOPNOTSUPP means that the process exists
 * but the file does not, because the kernel is older or the capture lacks the file.
 */
#ifndef MS_PROC_SYSTEM_PROCFS_H
#define MS_PROC_SYSTEM_PROCFS_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/strbuf.h"

struct procfs {
	int fd;
	/* true if the tree is the running kernel's /proc, which libproc2 can read */
	bool is_live;
	/*
	 * true if the tree is a capture, whose files are opened as described
	 * in foreign_file.h
	 */
	bool is_foreign;
};

/*
 * Special values of pid that stand for the process or thread that opens the file ("self",
 * "thread-self").
 */
#define PROCFS_SELF INT_MIN
#define PROCFS_THREAD_SELF (INT_MIN + 1)

#define PROCFS_INIT              \
	{                        \
		-1, false, false \
	}

/*
 * Open the directory `root` as a procfs. Return 0, or -errno: -ENOENT, -ENOTDIR,
 * -EACCES, … The caller calls procfs_release().
 */
int procfs_open(struct procfs *fs, const char *root);
void procfs_release(struct procfs *fs);

/*
 * Open the file "pid/file" for reading. Return a descriptor that the caller closes, or
 * -errno with the errors described at the top of this file.
 */
int procfs_open_file(const struct procfs *fs, int pid, const char *file);

/*
 * Append the contents of the file "pid/file", at most `limit` bytes. Return 0, -EFBIG,
 * or -errno with the errors described at the top of this file.
 */
int procfs_read_file(const struct procfs *fs, int pid, const char *file, size_t limit,
		     struct strbuf *out);

/*
 * Open or read a path below the root, or below dir_fd, a directory opened by these
 * functions. Errors are those of the system calls, not mapped to common codes. In a
 * captured tree, no path can leave the root or dir_fd, and only regular files are
 * accepted; others fail with -EBADMSG.
 */
int procfs_open_path(const struct procfs *fs, const char *path);
int procfs_read_path(const struct procfs *fs, const char *path, size_t limit,
		     struct strbuf *out);
int procfs_read_below(const struct procfs *fs, int dir_fd, const char *path, size_t limit,
		      struct strbuf *out);

/* Call stat(2) on a path below the root. Return 0, or -errno of the system call. */
int procfs_stat_path(const struct procfs *fs, const char *path, struct stat *ret);

/*
 * Read the target of the symlink "pid/file", truncated to `size` bytes. Return 0, or
 * -errno with the errors described at the top of this file.
 */
int procfs_read_link(const struct procfs *fs, int pid, const char *file, char *ret,
		     size_t size);

/*
 * Return the error code for a failed read from an open file of a process: -ESRCH if the
 * process has ended, otherwise -err. err is the errno of the read (above 0).
 */
int procfs_normalize_errno(int err);

/*
 * Format a path that refers to an open descriptor of memstate itself, for system calls
 * that accept only a path.
 */
#define PROCFS_FD_PATH_SIZE 32
void procfs_format_fd_path(char path[PROCFS_FD_PATH_SIZE], int fd);

/*
 * Open the file of a descriptor again, without another path lookup. Return a descriptor
 * that the caller closes, or -errno: -ENOENT if /proc is not mounted.
 */
int procfs_reopen(int fd, int flags);

/*
 * Format the path "pid/file". The function runs once for each process and sample, so it
 * does not use snprintf(), which is slow.
 */
#define PROCFS_PATH_SIZE 64
void procfs_format_path(char path[PROCFS_PATH_SIZE], int pid, const char *file);

#endif
