/* SPDX-License-Identifier: GPL-2.0-or-later */
/* count_perf - breakpoints in one process as perf events (uprobes). */
#ifndef MS_PROBE_UPROBE_PERF_H
#define MS_PROBE_UPROBE_PERF_H

#include <stdint.h>

/*
 * Open a disabled event that counts a thread's hits; its filter is the thread's memory.
 * leader_fd is the leader of its group, or -1.
 *
 * The event is never inherited: the kernel would read the path again, from the target's
 * memory, and the target's fork(2) and pthread_create(3) would fail with EFAULT.
 *
 * Return a descriptor, or -errno; -ENODEV: the kernel does not support such events.
 */
int count_perf_open_event(const char *path, uint64_t offset_bytes, int tid,
			  int leader_fd);

#endif
