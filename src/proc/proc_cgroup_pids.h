/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_cgroup_pids - the processes of a group and of all below it.
 *
 * Sources: cgroup.procs, Documentation/admin-guide/cgroup-v2.rst.
 */
#ifndef MS_PROC_PROC_CGROUP_PIDS_H
#define MS_PROC_PROC_CGROUP_PIDS_H

#include "model/cgroup.h"

/*
 * Of the group with this folder: pids, pid_count and group_count of *ret, whose storage is
 * used again. Groups that vanish meanwhile have none; of too many the first are read.
 */
void cgroup_pids_read(int dir_fd, struct cgroup *ret);

#endif
