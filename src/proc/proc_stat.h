/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_stat - who the processes are, from /proc/PID/stat: the reader for captured trees, and for
 * builds without libproc2.
 */
#ifndef MS_PROC_PROC_STAT_H
#define MS_PROC_PROC_STAT_H

#include <stddef.h>

#include "model/process.h"
#include "proc/procfs.h"

/* One stat line. Returns 0, or -EBADMSG with *ret untouched. */
int proc_stat_parse(const char *text, size_t length, struct process *ret);

/* The effective user, UINT32_MAX if it cannot be told. */
uint32_t proc_stat_read_uid(const struct procfs *fs, int pid);

/* Returns 0, -ESRCH, -EACCES, -EBADMSG. *ret is untouched on failure. */
int proc_stat_read(const struct procfs *fs, int pid, struct process *ret);

/*
 * What is resident now, from statm. stat's own figure is up to (batch - 1) pages off for each CPU
 * since Linux 6.2 and never summed; statm's is exact. Returns 0, -ESRCH, -EOPNOTSUPP, -EBADMSG or
 * another -errno.
 */
int proc_stat_read_rss(const struct procfs *fs, int pid, uint64_t *ret_bytes);

#endif
