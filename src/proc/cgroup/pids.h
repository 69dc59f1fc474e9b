/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pids - list the processes of a cgroup and its descendants.
 *
 * Sources: cgroup.procs, Documentation/admin-guide/cgroup-v2.rst.
 */
#ifndef MS_PROC_CGROUP_PIDS_H
#define MS_PROC_CGROUP_PIDS_H

#include "model/cgroup.h"

/*
 * List the processes of the cgroup whose directory is dir_fd and of its descendants. Set
 * pids (sorted), pid_count and group_count of *ret, reusing its storage. Cgroups that are
 * removed during the listing are skipped. At most 10000 cgroups and 1000000 pids are
 * read; the others are ignored.
 */
void cgroup_pids_read(int dir_fd, struct cgroup *ret);

#endif
