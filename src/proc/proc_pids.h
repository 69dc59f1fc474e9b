/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_pids - libproc2, and the only place that knows it. Internal to proc/: others use
 * proc_list.h.
 */
#ifndef MS_PROC_PROC_PIDS_H
#define MS_PROC_PROC_PIDS_H

#include "proc/proc_list.h"

/* Every live process with LIST_STAT. Returns 0, -errno, or what fn returned. */
int proc_pids_read(const struct procfs *fs, process_fn fn, void *context);

#endif
