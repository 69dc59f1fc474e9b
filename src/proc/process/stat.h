/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stat - read the pid, name, state and other values of a process from /proc/PID/stat, for
 * captured trees and for builds without libproc2.
 */
#ifndef MS_PROC_PROCESS_STAT_H
#define MS_PROC_PROCESS_STAT_H

#include <stddef.h>

#include "model/process.h"
#include "proc/system/procfs.h"

/* Parse the text of /proc/PID/stat. Return 0, or -EBADMSG with *ret unchanged. */
int proc_stat_parse(const char *text, size_t length, struct process *ret);

/* Return the process's effective user id, or UINT32_MAX if it cannot be determined. */
uint32_t proc_stat_read_uid(const struct procfs *fs, int pid);

/*
 * Read /proc/PID/stat and the process's user id. Return 0, -ESRCH, -EACCES, -EOPNOTSUPP,
 * or -EBADMSG. *ret is unchanged on failure.
 */
int proc_stat_read(const struct procfs *fs, int pid, struct process *ret);

/* Return the age of the process, the time since it was forked, in ns. */
uint64_t proc_stat_age_ns(const struct process *p);

/*
 * Read the current Rss in bytes from statm, which is exact if proc_statm_is_exact()
 * returns true. Since Linux 6.2, the rss in stat may be off by almost
 * percpu_counter_batch pages per CPU, because the kernel does not add up its per-CPU
 * counters. Return 0, -ESRCH, -EOPNOTSUPP, -EBADMSG or another -errno.
 */
int proc_stat_read_rss(const struct procfs *fs, int pid, uint64_t *ret_bytes);

#endif
