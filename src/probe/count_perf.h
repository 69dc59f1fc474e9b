/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_perf - breakpoints in one process as events of perf (uprobes).
 */
#ifndef MS_PROBE_COUNT_PERF_H
#define MS_PROBE_COUNT_PERF_H

#include <stdint.h>

#define COUNT_PERF_PATH_SIZE 32

/* A path by which the kernel finds an open file, whatever its own leads to by now. */
void count_perf_format_path(char path[COUNT_PERF_PATH_SIZE], int fd);

/*
 * An event of a thread, not yet counted: it counts the thread's own hits, and its filter is
 * the thread's memory. With leader_fd (-1: none) it is one of that group.
 *
 * Never inherited: the target's fork(2) and pthread_create(3) would fail with EFAULT, as the
 * kernel then reads the path again, from the target's memory.
 *
 * Returns a descriptor, or -errno; -ENODEV: the kernel has no such events.
 */
int count_perf_open_event(const char *path, uint64_t offset_bytes, int tid, int leader_fd);

#endif
