/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group_processes - resolve a group that the user named, and list its processes.
 */
#ifndef MS_SAMPLE_PROCESS_GROUP_PROCESSES_H
#define MS_SAMPLE_PROCESS_GROUP_PROCESSES_H

#include "model/usage.h"
#include "proc/cgroup/cgroup.h"

/* A group: one that the user names, or the one that a process is in. */
struct cgroup_target {
	const char *name; /* a folder, path or id; NULL: use pid */
	int pid;
};

/*
 * Returns 0; -EOPNOTSUPP if no memory controller is visible; -ENOENT or -EEXIST if the
 * name matches no group or several; -ESRCH if the process is gone; -EXDEV if its group is
 * outside our namespace; or another -errno.
 */
int cgroup_target_open(const struct procfs *fs, const struct cgroup_target *target,
		       struct cgroup_reader **ret);

struct group_processes;

/* Returns like cgroup_target_open(). */
int group_processes_open(const struct procfs *fs, const struct cgroup_target *target,
			 struct group_processes **ret);
void group_processes_free(struct group_processes *group);

/*
 * Append the processes that are now in the group, or below it, and have memory. Only the
 * process member of each usage is set. *ret must not yet contain any of them. Appends
 * nothing once the group was removed. Returns 0 or -errno.
 */
int group_processes_list(struct group_processes *group, const struct procfs *fs,
			 struct snapshot *ret);

/* Whether the group had been removed at the last listing. */
bool group_processes_is_gone(const struct group_processes *group);

#endif
