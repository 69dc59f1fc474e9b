/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mount - find the mount point of the cgroup hierarchy with the memory controller. Look
 * up a cgroup by one of its processes, its directory, its path, or the id of its
 * container. Paths are relative to the mount: "" is the mounted cgroup itself, and "/a/b"
 * is a descendant. Sources: cgroups(7), cgroup_namespaces(7), proc_pid_mountinfo(5).
 */
#ifndef MS_PROC_CGROUP_MOUNT_H
#define MS_PROC_CGROUP_MOUNT_H

#include "model/cgroup.h"
#include "proc/system/procfs.h"

struct cgroup_mount {
	enum cgroup_version version;
	char *dir; /* path of the mount point */
	/*
	 * root of the mount within the hierarchy, as memstate sees it: "/", "/docker/…",
	 * "/../.."
	 */
	char *root;
};

#define CGROUP_MOUNT_INIT             \
	{                             \
		CGROUP_V1, NULL, NULL \
	}

/*
 * Find the mount of the hierarchy with the memory controller in /proc/self/mountinfo.
 * Only one hierarchy can have the controller. Return 0, -EOPNOTSUPP if no mounted
 * hierarchy has it, or -errno from reading the file. The caller releases *ret.
 */
int cgroup_mount_find(const struct procfs *fs, struct cgroup_mount *ret);
void cgroup_mount_release(struct cgroup_mount *mount);

/*
 * Return the path of pid's cgroup in *ret_path, which the caller frees. Return 0, -ESRCH
 * if the process has ended, -EXDEV if its cgroup is not below the mount, or -errno.
 */
int cgroup_mount_path_of(const struct cgroup_mount *mount, const struct procfs *fs,
			 int pid, char **ret_path);

/* Minimum length of an abbreviated container id. */
#define CGROUP_ID_LENGTH_MIN 12

/*
 * Look up the cgroup that a user named by its directory, its path in the hierarchy, or
 * the first hexadecimal digits of an id in its name (at least CGROUP_ID_LENGTH_MIN). The
 * caller frees *ret_path. Return 0, -ENOENT, -EEXIST if several cgroups match the id, or
 * another -errno.
 */
int cgroup_mount_resolve(const struct cgroup_mount *mount, const char *name,
			 char **ret_path);

#endif
