/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmstat - read counters of the whole machine from /proc/vmstat.
 */
#ifndef MS_PROC_SYSTEM_VMSTAT_H
#define MS_PROC_SYSTEM_VMSTAT_H

#include "proc/system/procfs.h"

/*
 * Return how many processes, in all cgroups, the OOM killer has killed since boot. Return
 * COUNT_UNKNOWN before Linux 4.13, which added the counter.
 */
uint64_t proc_vmstat_oom_kills(const struct procfs *fs);

#endif
