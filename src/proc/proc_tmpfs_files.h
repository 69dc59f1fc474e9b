/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_tmpfs_files - files on tmpfs, and memfds, that a process has open for writing.
 */
#ifndef MS_PROC_PROC_TMPFS_FILES_H
#define MS_PROC_PROC_TMPFS_FILES_H

#include "proc/proc_mounts.h"

struct tmpfs_file {
	uint32_t major, minor;
	uint64_t inode;
	uint64_t bytes;	       /* that it has in memory, or on swap */
	uint64_t born_unix_ms; /* 0: the kernel does not tell */
	const char *path;      /* as the link of the descriptor has it */
};

/*
 * Call fn for each, as long as it returns 0, and for no more than *left descriptors, of which
 * those that were looked at are subtracted. No server of a file system is asked. What cannot
 * be read is left out. Returns 0, what fn returned, or -errno if the process has ended or may
 * not be read.
 */
int proc_tmpfs_files_for_each(const struct procfs *fs, struct tmpfs_devices *devices, int pid,
			      size_t *left,
			      int (*fn)(void *context, const struct tmpfs_file *file),
			      void *context);

#endif
