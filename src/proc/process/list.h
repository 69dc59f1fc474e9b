/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list - list all processes. memstate lists live processes with libproc2 if the build
 * includes it. libproc2 cannot read a captured tree, so proc_stat reads it.
 */
#ifndef MS_PROC_PROCESS_LIST_H
#define MS_PROC_PROCESS_LIST_H

#include "model/process.h"
#include "proc/system/procfs.h"

/* The members of struct process that are set in addition to pid. */
enum list_want {
	LIST_STAT = 1 << 0, /* all members, which takes about 15 us per process */
};

/*
 * A function that is called once for each process. It returns 0 to continue the listing.
 * Any other value ends the listing and becomes its result.
 */
typedef int (*process_fn)(void *context, const struct process *p);

/*
 * Call fn for every process, in ascending order of pid if the kernel lists them in this
 * order. Processes that end during the listing are skipped. If a process's stat is hidden
 * (hidepid=1) or corrupt, only its pid is set, and its state is 0. Return 0, -errno if
 * the list or a process cannot be read, or the nonzero value that fn returned.
 */
int proc_list_read(const struct procfs *fs, unsigned int wants, process_fn fn,
		   void *context);

/*
 * Read one process, with all its members. Return 0, -ESRCH, -EOPNOTSUPP if its stat is
 * not a regular file (in a capture), or another -errno, such as -EMFILE.
 */
int proc_list_read_one(const struct procfs *fs, int pid, struct process *ret);

#endif
