/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/process/group_processes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "proc/process/list.h"

struct group_processes {
	struct cgroup_reader *reader;
	struct cgroup members; /* processes of the cgroup; only their pids are set */
	bool is_gone;
};

int cgroup_target_open(const struct procfs *fs, const struct cgroup_target *target,
		       struct cgroup_reader **ret)
{
	struct cgroup_mount mount = CGROUP_MOUNT_INIT;
	_cleanup_free_ char *path = NULL;
	int r = cgroup_mount_find(fs, &mount);

	if (r < 0)
		return r;
	if (target->name)
		r = cgroup_mount_resolve(&mount, target->name, &path);
	else
		r = cgroup_mount_path_of(&mount, fs, target->pid, &path);
	if (r == 0)
		r = cgroup_reader_open(&mount, path, ret);
	cgroup_mount_release(&mount);
	return r;
}

int group_processes_open(const struct procfs *fs, const struct cgroup_target *target,
			 struct group_processes **ret)
{
	struct cgroup_reader *reader = NULL;
	int r = cgroup_target_open(fs, target, &reader);

	if (r < 0)
		return r;
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->reader = reader;
	cgroup_init(&(*ret)->members);
	return 0;
}

void group_processes_free(struct group_processes *group)
{
	if (!group)
		return;
	cgroup_reader_free(group->reader);
	cgroup_release(&group->members);
	free(group);
}

static int add_process(const struct procfs *fs, int pid, struct snapshot *ret)
{
	struct process p;
	int r = proc_list_read_one(fs, pid, &p);

	if (r == 0 && process_has_memory(&p))
		snapshot_add(ret)->process = p;
	/* a process may end at any time, which is not an error */
	return r == -ESRCH ? 0 : r;
}

int group_processes_list(struct group_processes *group, const struct procfs *fs,
			 struct snapshot *ret)
{
	int r = cgroup_reader_read_pids(group->reader, &group->members);

	group->is_gone = r == -ESRCH;
	if (r < 0)
		return group->is_gone ? 0 : r;
	for (size_t i = 0; i < group->members.pid_count && r == 0; i++)
		/*
		 * with cgroup v1, a process's threads may be in several cgroups, so its
		 * pid may appear repeatedly
		 */
		if (i == 0 || group->members.pids[i] != group->members.pids[i - 1])
			r = add_process(fs, group->members.pids[i], ret);
	return r;
}

bool group_processes_is_gone(const struct group_processes *group)
{
	return group->is_gone;
}
