/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_cgroup_mount - where the groups that memory is charged to can be seen, and which
 * of them is meant: by a process in it, by its folder, by its path, or by the id of its
 * container.
 *
 * Paths are those below the mount: "" is what is mounted, "/a/b" a group in it. Sources:
 * cgroups(7), cgroup_namespaces(7), proc_pid_mountinfo(5).
 */
#ifndef MS_PROC_PROC_CGROUP_MOUNT_H
#define MS_PROC_PROC_CGROUP_MOUNT_H

#include "model/cgroup.h"
#include "proc/procfs.h"

struct cgroup_mount {
	enum cgroup_version version;
	char *dir;  /* where */
	char *root; /* what of the hierarchy, as this process sees it: "/", "/docker/…", "/../.." */
};

#define CGROUP_MOUNT_INIT { CGROUP_V1, NULL, NULL }

/*
 * The mount, in the list of self, of the hierarchy that has the memory controller: it is
 * in one only. Returns 0, -EOPNOTSUPP if there is none, or -errno of the list.
 */
int cgroup_mount_find(const struct procfs *fs, struct cgroup_mount *ret);
void cgroup_mount_release(struct cgroup_mount *mount);

/*
 * The group of pid. The caller frees it. Returns 0, -ESRCH if the process is gone,
 * -EXDEV if its group is not below the mount, or -errno.
 */
int cgroup_mount_path_of(const struct cgroup_mount *mount, const struct procfs *fs, int pid,
			 char **ret_path);

/* So many characters of a container's id are enough. */
#define CGROUP_ID_LEAST 12

/*
 * The group that a user means: its folder, its path in the hierarchy, or the first
 * CGROUP_ID_LEAST or more characters of an id that is in its name. The caller frees it.
 * Returns 0, -ENOENT, or -EEXIST if there are several with that id.
 */
int cgroup_mount_resolve(const struct cgroup_mount *mount, const char *name, char **ret_path);

#endif
