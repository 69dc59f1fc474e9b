/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tmpfs_files - list the files on tmpfs and the memfds that a
 * process has open for writing.
 */
#ifndef MS_PROC_CGROUP_TMPFS_FILES_H
#define MS_PROC_CGROUP_TMPFS_FILES_H

#include "proc/system/mounts.h"

struct tmpfs_file {
	uint32_t major, minor;
	uint64_t inode;
	uint64_t bytes;	       /* size of the file's pages, in memory or in swap */
	uint64_t born_unix_ms; /* creation time in ms since 1970, or 0 if unknown */
	/* target of the descriptor's symlink; valid only until the callback returns */
	const char *path;
};

/*
 * Call fn for each tmpfs file and memfd that the process has open for writing, until fn
 * returns a nonzero value or *left is 0. *left is the number of descriptors that the
 * function may still examine. The function never waits for the server of a file system.
 * It skips files that cannot be read. Return 0, the value that fn returned, or -errno if
 * the process has ended or must not be read.
 */
int proc_tmpfs_files_for_each(const struct procfs *fs, struct tmpfs_devices *devices,
			      int pid, size_t *left,
			      int (*fn)(void *context, const struct tmpfs_file *file),
			      void *context);

#endif
