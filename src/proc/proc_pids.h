/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_pids - libproc2, and the only place that knows it. Internal to proc/: others use proc_list.h.
 */
#ifndef MS_PROC_PROC_PIDS_H
#define MS_PROC_PROC_PIDS_H

#include "proc/proc_list.h"

struct pids_info;

/* Returns 0 or -errno. */
int proc_pids_new(struct pids_info **ret);
void proc_pids_free(struct pids_info *info);

/* Every process with LIST_STAT. Returns 0, -errno, or what fn returned. */
int proc_pids_read(struct pids_info *info, const struct procfs *fs, process_fn fn, void *context);

#endif
