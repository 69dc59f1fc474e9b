/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group_processes - resolve the name of a cgroup that the user entered, and list
 * its processes.
 */
#ifndef MS_SAMPLE_PROCESS_GROUP_PROCESSES_H
#define MS_SAMPLE_PROCESS_GROUP_PROCESSES_H

#include "model/usage.h"
#include "proc/cgroup/cgroup.h"

/* A cgroup given by name, or the cgroup of a process. */
struct cgroup_target {
	/* name, path or id of the cgroup, or NULL to use the cgroup of pid */
	const char *name;
	int pid;
};

/*
 * Open a reader for the target's cgroup. Return 0; -EOPNOTSUPP if no memory controller
 * is visible; -ENOENT if the name matches no cgroup; -EEXIST if it matches several;
 * -ESRCH if the process has ended; -EXDEV if its cgroup is outside memstate's namespace;
 * or another -errno.
 */
int cgroup_target_open(const struct procfs *fs, const struct cgroup_target *target,
		       struct cgroup_reader **ret);

struct group_processes;

/*
 * Open the list of the processes in the target's cgroup. Return the same values
 * as cgroup_target_open().
 */
int group_processes_open(const struct procfs *fs, const struct cgroup_target *target,
			 struct group_processes **ret);
void group_processes_free(struct group_processes *group);

/*
 * Append the processes in the cgroup and its descendants, except zombies and kernel
 * threads, which have no memory. Only the process member of each usage is set. *ret must
 * not yet contain any of these processes. Append nothing if the cgroup was removed.
 * Return 0 or -errno.
 */
int group_processes_list(struct group_processes *group, const struct procfs *fs,
			 struct snapshot *ret);

/* Return true if the cgroup no longer existed at the last listing. */
bool group_processes_is_gone(const struct group_processes *group);

#endif
