/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_files - count the open pipes and sockets of processes, and compute an upper
 * bound on the kernel memory that the pipes hold.
 */
#ifndef MS_PROC_SYSTEM_KERNEL_FILES_H
#define MS_PROC_SYSTEM_KERNEL_FILES_H

#include "model/cgroup.h"
#include "proc/system/procfs.h"

/*
 * Set pipe_count, pipe_limit_bytes and socket_count of *ret for the given processes. All
 * three are unknown if the processes have more than 50000 descriptors together, or if the
 * descriptors of a process cannot be read. To query the size of a pipe, the kernel takes
 * the pipe's lock and may hang. A child process therefore makes the queries, through
 * duplicates of the descriptors, and memstate waits at most one second for the child.
 * Returns 0, or -ETIMEDOUT after that second: the caller must not try again.
 */
int proc_kernel_files_read(const struct procfs *fs, const int *pids, size_t count,
			   struct cgroup_kernel *ret);

/*
 * Return an upper bound, in bytes, of the memory of a pipe's pages, given the pipe's
 * capacity and content.
 */
uint64_t proc_kernel_files_pipe_limit(uint64_t capacity_bytes, uint64_t content_bytes,
				      uint64_t page_bytes);

#endif
