/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_files - count the open pipes and sockets of processes, and compute an upper
 * bound on the kernel memory of the pipes.
 */
#ifndef MS_PROC_SYSTEM_KERNEL_FILES_H
#define MS_PROC_SYSTEM_KERNEL_FILES_H

#include "model/cgroup.h"
#include "proc/system/procfs.h"

/*
 * Set pipe_count, pipe_limit_bytes and socket_count of *ret for the given processes. All
 * three are unknown if the processes together have more than 50000 descriptors, or if the
 * descriptors of a process cannot be read.
 *
 * To report the size of a pipe, the kernel takes the pipe's lock, and may wait for it
 * forever. A child process therefore queries the sizes through duplicates of the
 * descriptors, and memstate waits at most one second for the child. Return 0, or
 * -ETIMEDOUT after that second; the caller must then not try again.
 */
int proc_kernel_files_read(const struct procfs *fs, const int *pids, size_t count,
			   struct cgroup_kernel *ret);

/*
 * Return an upper bound on the memory of a pipe's pages, in bytes, given the capacity and
 * the content of the pipe in bytes.
 */
uint64_t proc_kernel_files_pipe_limit(uint64_t capacity_bytes, uint64_t content_bytes,
				      uint64_t page_bytes);

#endif
