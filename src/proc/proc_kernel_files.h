/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_kernel_files - the pipes and sockets that processes have open, and what the pipes may
 * hold of the kernel's memory.
 */
#ifndef MS_PROC_PROC_KERNEL_FILES_H
#define MS_PROC_PROC_KERNEL_FILES_H

#include "model/cgroup.h"
#include "proc/procfs.h"

/*
 * Set pipe_count, pipe_limit_bytes and socket_count of the processes, which have at most a few
 * 10 000 descriptors in all; unknown if there are more, or if those of a process cannot be
 * read. The size of a pipe is asked from a copy of its descriptor, for which the kernel takes
 * the pipe's lock: a child process does that, and is left behind after a second.
 * Returns 0; -ETIMEDOUT if that happened: do not ask again.
 */
int proc_kernel_files_read(const struct procfs *fs, const int *pids, size_t count,
			   struct cgroup_kernel *ret);

/* The pages in a pipe of so many slots, with so many bytes in it, are at most so many bytes. */
uint64_t proc_kernel_files_pipe_limit(uint64_t capacity_bytes, uint64_t content_bytes,
				      uint64_t page_bytes);

#endif
