/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procfs - access to /proc, either that of the running kernel or a captured copy of its
 * files. All paths are relative to its root directory. Errors are mapped to common codes:
 * -ESRCH means that the process no longer exists, whether the kernel reported ENOENT or
 * ESRCH. -EOPNOTSUPP means that the process exists but the file does not, because the
 * kernel is older or the capture lacks the file.
 */
#ifndef MS_PROC_SYSTEM_PROCFS_H
#define MS_PROC_SYSTEM_PROCFS_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/strbuf.h"

struct procfs {
	int fd;
	/* the tree is the /proc of the running kernel, which libproc2 can read */
	bool is_live;
	/*
	 * the root is a captured tree; its files are opened as described
	 * in foreign_file.h
	 */
	bool is_foreign;
};

/*
 * Special values of pid: the process or the thread that opens the file
 * ("self", "thread-self").
 */
#define PROCFS_SELF INT_MIN
#define PROCFS_THREAD_SELF (INT_MIN + 1)

#define PROCFS_INIT              \
	{                        \
		-1, false, false \
	}

/*
 * Open the directory root as a procfs. Returns 0, or -errno: -ENOENT, -ENOTDIR, -EACCES,
 * … The caller calls procfs_release().
 */
int procfs_open(struct procfs *fs, const char *root);
void procfs_release(struct procfs *fs);

/*
 * Open pid/file for reading. Returns a descriptor that the caller closes, or -errno with
 * the errors described at the top of this file.
 */
int procfs_open_file(const struct procfs *fs, int pid, const char *file);

/*
 * Append the content of pid/file, at most `limit` bytes. Returns 0, -EFBIG, or -errno
 * with the errors described at the top of this file.
 */
int procfs_read_file(const struct procfs *fs, int pid, const char *file, size_t limit,
		     struct strbuf *out);

/*
 * Open or read a path below the root, or below dir_fd, a directory opened by these
 * functions. Errors are returned unchanged, not mapped to common codes. In a
 * captured tree, no path can leave the root or dir_fd, and files other than regular ones
 * are refused with -EBADMSG.
 */
int procfs_open_path(const struct procfs *fs, const char *path);
int procfs_read_path(const struct procfs *fs, const char *path, size_t limit,
		     struct strbuf *out);
int procfs_read_below(const struct procfs *fs, int dir_fd, const char *path, size_t limit,
		      struct strbuf *out);

/* Call stat(2) on a path below the root. Returns 0, or the unchanged -errno. */
int procfs_stat_path(const struct procfs *fs, const char *path, struct stat *ret);

/*
 * Read the target of the symlink pid/file, truncated to size bytes. Returns 0, or -errno
 * with the errors described at the top of this file.
 */
int procfs_read_link(const struct procfs *fs, int pid, const char *file, char *ret,
		     size_t size);

/*
 * Convert errno (err > 0) of a failed read from an open file of a process to one of the
 * common codes: -ESRCH or -err.
 */
int procfs_normalize_errno(int err);

/*
 * Format a path that refers to an open descriptor of memstate itself, for a call that
 * takes only a path.
 */
#define PROCFS_FD_PATH_SIZE 32
void procfs_format_fd_path(char path[PROCFS_FD_PATH_SIZE], int fd);

/*
 * Reopen the file of a descriptor, without another path lookup. Returns a descriptor that
 * the caller closes, or -errno: -ENOENT if /proc is not mounted.
 */
int procfs_reopen(int fd, int flags);

/*
 * Format the path "pid/file". This function runs once per process and sample, so it does
 * not use snprintf(), which is slow.
 */
#define PROCFS_PATH_SIZE 64
void procfs_format_path(char path[PROCFS_PATH_SIZE], int pid, const char *file);

#endif
