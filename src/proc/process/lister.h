/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lister - list all processes repeatedly, at a fraction of the cost of proc_list_read().
 *
 * A lister caches the data of each process, and keeps the process's statm file open. Each
 * listing reads every statm. It reads stat only for processes that are new, whose statm
 * has changed, whose parent has ended, or that the caller names, and for one in
 * LISTER_TURNS of the other processes. The members of struct process are therefore at
 * most LISTER_TURNS listings old, except stat_rss_bytes, which is always read from statm.
 *
 * Each descriptor takes 5.6 KiB of kernel memory, which is charged to memstate's cgroup.
 * A lister holds at most LISTER_HELD_MAX descriptors, and at most half of the soft limit
 * RLIMIT_NOFILE. It opens the statm of other processes in each listing. If no more files
 * can be opened, the lister closes all its descriptors, and keeps none open from then on.
 */
#ifndef MS_PROC_PROCESS_LISTER_H
#define MS_PROC_PROCESS_LISTER_H

#include <stddef.h>

#include "proc/process/list.h"

#define LISTER_TURNS 20
#define LISTER_HELD_MAX 1000

struct lister;

/*
 * Create a lister for the /proc of the running kernel. *fs must outlive the lister. The
 * kernel's statm must be exact (proc_statm_is_exact()).
 */
struct lister *lister_new(const struct procfs *fs);
void lister_free(struct lister *l);

/*
 * Call fn for every process, like proc_list_read() with LIST_STAT, in ascending order of
 * pid. stat is read for each of the `count` processes in pids.
 */
int lister_read(struct lister *l, const int *pids, size_t count, process_fn fn,
		void *context);

#endif
