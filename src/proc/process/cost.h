/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cost - read the CPU time and the page faults of a process since its start, and the
 * name of its program.
 */
#ifndef MS_PROC_PROCESS_COST_H
#define MS_PROC_PROCESS_COST_H

#include <stddef.h>
#include <stdint.h>

#include "proc/system/procfs.h"

/* Totals of a process, including its children that have ended and been waited for. */
struct process_cost {
	/* CPU time of a process, with a resolution of one clock tick */
	uint64_t user_ns, system_ns;
	uint64_t minor_fault_count, major_fault_count;
};

/*
 * Parse the CPU times and page faults in the text of /proc/PID/stat. Return 0, or
 * -EBADMSG with *ret unchanged.
 */
int proc_cost_parse(const char *text, struct process_cost *ret);

/* Read /proc/PID/stat. Return 0, -errno as procfs_open_file() does, or -EBADMSG. */
int proc_cost_read(const struct procfs *fs, int pid, struct process_cost *ret);

/*
 * Read the peak Rss in bytes since the last exec (VmHWM in /proc/PID/status). Return 0,
 * -errno, or -EBADMSG if there is no VmHWM, as in the status of a zombie.
 */
int proc_cost_read_peak_rss(const struct procfs *fs, int pid, uint64_t *ret_bytes);

/*
 * Store the file name of the program to which /proc/PID/exe points. Return 0 or -errno.
 * Only users who may trace the process may read the link.
 */
int proc_cost_read_program(const struct procfs *fs, int pid, char *ret_name, size_t size);

#endif
