/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_cost - what a process has used so far, and which program runs in it.
 */
#ifndef MS_PROC_PROC_COST_H
#define MS_PROC_PROC_COST_H

#include <stddef.h>
#include <stdint.h>

#include "proc/procfs.h"

/* Its own, and of those children that have ended and that it has waited for. */
struct process_cost {
	uint64_t user_ns, system_ns; /* in clock ticks, as the kernel reports them */
	uint64_t minor_fault_count, major_fault_count;
};

/* One stat line. Returns 0, or -EBADMSG with *ret untouched. */
int proc_cost_parse(const char *text, struct process_cost *ret);

/* Returns 0, or -errno as procfs_open_file(), or -EBADMSG. */
int proc_cost_read(const struct procfs *fs, int pid, struct process_cost *ret);

/*
 * VmHWM of status: the most Rss since its last exec. Returns 0, -errno, or -EBADMSG: a
 * zombie has none.
 */
int proc_cost_read_peak_rss(const struct procfs *fs, int pid, uint64_t *ret_bytes);

/*
 * The name of the program's file without its folder, as exe says. Returns 0, or -errno:
 * only who may trace the process may read it.
 */
int proc_cost_read_program(const struct procfs *fs, int pid, char *ret_name, size_t size);

#endif
