/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_vmstat - counters of the whole machine from /proc/vmstat.
 */
#ifndef MS_PROC_PROC_VMSTAT_H
#define MS_PROC_PROC_VMSTAT_H

#include "proc/procfs.h"

/*
 * Return how many processes the OOM killer has killed since boot, in all cgroups together, or
 * COUNT_UNKNOWN: the counter was added in Linux 4.13.
 */
uint64_t proc_vmstat_oom_kills(const struct procfs *fs);

#endif
