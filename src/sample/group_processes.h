/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group_processes - which group is meant, and the processes that are in it.
 */
#ifndef MS_SAMPLE_GROUP_PROCESSES_H
#define MS_SAMPLE_GROUP_PROCESSES_H

#include "model/usage.h"
#include "proc/proc_cgroup.h"

/* Which group: one that a user names, or that of a process. */
struct cgroup_target {
	const char *name; /* a folder, a path or an id; or NULL */
	int pid;
};

/*
 * Returns 0, -EOPNOTSUPP if no memory controller can be seen, -ENOENT or -EEXIST of the
 * name, -ESRCH, -EXDEV of the process, or -errno.
 */
int cgroup_target_open(const struct procfs *fs, const struct cgroup_target *target,
		       struct cgroup_reader **ret);

struct group_processes;

/* Returns as above. */
int group_processes_open(const struct procfs *fs, const struct cgroup_target *target,
			 struct group_processes **ret);
void group_processes_free(struct group_processes *group);

/*
 * Those that are in the group now, or below it, and have memory, as usages of which only
 * the process is known: added to *ret, which has none of them. None at all once the group
 * was removed. Returns 0 or -errno.
 */
int group_processes_list(struct group_processes *group, const struct procfs *fs,
			 struct snapshot *ret);

/* True if it was removed when it was listed last. */
bool group_processes_is_gone(const struct group_processes *group);

#endif
