/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procfs - a /proc, live or captured: the root every reader of this layer works below.
 *
 * Folds the kernel's ways to say "gone" into one: ENOENT and ESRCH of a pid that is not
 * there any more are -ESRCH; a file missing below a pid that is there is -EOPNOTSUPP (an
 * older kernel, or a capture without it).
 */
#ifndef MS_PROC_PROCFS_H
#define MS_PROC_PROCFS_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/strbuf.h"

struct procfs {
	int fd;
	bool is_live;	 /* this kernel's own /proc: what libproc2 reads */
	bool is_foreign; /* a directory tree, whose files are opened as foreign_file.h says */
};

#define PROCFS_INIT { -1, false, false }

/* Returns 0, -ENOENT, -ENOTDIR, -EACCES … */
int procfs_open(struct procfs *fs, const char *root);
void procfs_release(struct procfs *fs);

/* Open pid/file for reading. Returns a descriptor that the caller closes, or -errno as above. */
int procfs_open_file(const struct procfs *fs, int pid, const char *file);

/* Append all of pid/file, at most `limit` bytes. Returns 0 or -errno as above, or -EFBIG. */
int procfs_read_file(const struct procfs *fs, int pid, const char *file, size_t limit,
		     struct strbuf *out);

/*
 * The same for a path below the root, and for one below dir_fd, a directory that was opened by
 * these functions; errors are not folded. In a directory tree no path leaves the root or dir_fd,
 * and a file that is not regular is refused with -EBADMSG.
 */
int procfs_open_path(const struct procfs *fs, const char *path);
int procfs_read_path(const struct procfs *fs, const char *path, size_t limit, struct strbuf *out);
int procfs_read_below(const struct procfs *fs, int dir_fd, const char *path, size_t limit,
		      struct strbuf *out);

/* stat(2) of a path below the root. Returns 0 or -errno, not folded. */
int procfs_stat_path(const struct procfs *fs, const char *path, struct stat *ret);

/* The target of pid's symlink, cut to size. Returns 0 or -errno, folded as above. */
int procfs_read_link(const struct procfs *fs, int pid, const char *file, char *ret, size_t size);

/* The errno of a read from an open file of pid, folded as above. `err` > 0. */
int procfs_fold_errno(int err);

/* "/pid/file" without printf: this runs once per process and sample. */
#define PROCFS_PATH_SIZE 64
void procfs_format_path(char path[PROCFS_PATH_SIZE], int pid, const char *file);

#endif
