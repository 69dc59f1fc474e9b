/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_list - the processes there are. Live ones come through libproc2 where the build has it;
 * a captured tree, which libproc2 cannot read, through proc_stat.
 */
#ifndef MS_PROC_PROC_LIST_H
#define MS_PROC_PROC_LIST_H

#include "model/process.h"
#include "proc/procfs.h"

/* What to fill in besides pid. */
enum list_want {
	LIST_STAT = 1 << 0, /* all, for some 15 us a process */
};

/* Called once per process. A negative return ends the listing and becomes its result. */
typedef int (*process_fn)(void *context, const struct process *p);

/*
 * Every process, by ascending pid where the kernel lists them so. Returns 0, -errno of
 * the directory, or what fn returned; processes that end meanwhile are left out. Of one
 * whose stat is hidden (hidepid=1) or spoilt there is the pid, and its state is 0.
 */
int proc_list_read(const struct procfs *fs, unsigned int wants, process_fn fn, void *context);

/* One process, with LIST_STAT, as above. Returns 0, -ESRCH, -EOPNOTSUPP. */
int proc_list_read_one(const struct procfs *fs, int pid, struct process *ret);

#endif
