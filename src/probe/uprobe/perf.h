/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf - count the hits of breakpoints (uprobes) in one process with perf events. */
#ifndef MS_PROBE_UPROBE_PERF_H
#define MS_PROBE_UPROBE_PERF_H

#include <stdint.h>

/*
 * Open a disabled perf event that counts how often a thread hits a breakpoint. The
 * breakpoint is only in the memory of the thread's process. leader_fd is the leader of
 * the event's group, or -1.
 *
 * New threads and child processes never inherit the event. If they did, the kernel would
 * read the path again, from the target's memory, and the target's fork(2) and
 * pthread_create(3) would fail with EFAULT.
 *
 * Return a descriptor, or -errno. -ENODEV means that the kernel does not support such
 * events.
 */
int count_perf_open_event(const char *path, uint64_t offset_bytes, int tid,
			  int leader_fd);

#endif
