/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list - list the processes. Live ones are read with libproc2 if the build has it. A
 * captured tree, which libproc2 cannot read, is read with proc_stat.
 */
#ifndef MS_PROC_PROCESS_LIST_H
#define MS_PROC_PROCESS_LIST_H

#include "model/process.h"
#include "proc/system/procfs.h"

/* The members to fill in besides pid. */
enum list_want {
	LIST_STAT = 1 << 0, /* all members; costs about 15 us per process */
};

/*
 * Called once per process. 0 continues the listing; any other value ends it and becomes
 * its result.
 */
typedef int (*process_fn)(void *context, const struct process *p);

/*
 * Call fn for every process, in ascending order of pid if the kernel lists them in this
 * order. Processes that end meanwhile are left out. If a process's stat is hidden
 * (hidepid=1) or corrupt, only its pid is set and its state is 0. Returns 0, -errno if the
 * list or a process cannot be read, or the value other than 0 that fn returned.
 */
int proc_list_read(const struct procfs *fs, unsigned int wants, process_fn fn,
		   void *context);

/*
 * Read one process as with LIST_STAT. Returns 0, -ESRCH, -EOPNOTSUPP if its stat is not a
 * regular file (in a capture), or another -errno, such as -EMFILE.
 */
int proc_list_read_one(const struct procfs *fs, int pid, struct process *ret);

#endif
