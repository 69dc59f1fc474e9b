/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pids - list processes with libproc2, which no other file uses. Internal to proc/: other
 * layers use process/list.h.
 */
#ifndef MS_PROC_PROCESS_PIDS_H
#define MS_PROC_PROCESS_PIDS_H

#include "proc/process/list.h"

/*
 * Call fn for every live process, with all members set (LIST_STAT). Return the same
 * values as proc_list_read().
 */
int proc_pids_read(const struct procfs *fs, process_fn fn, void *context);

#endif
