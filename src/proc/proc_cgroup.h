/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_cgroup - the memory of one group, read again and again at little cost: files stay
 * open, and are read from their beginning. Version 1 and 2 of the hierarchy.
 *
 * Sources: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst, Linux 6.18.
 */
#ifndef MS_PROC_PROC_CGROUP_H
#define MS_PROC_PROC_CGROUP_H

#include "model/cgroup.h"
#include "proc/proc_cgroup_mount.h"

/* What is to be read: the levels' usage and limits in any case. */
enum cgroup_part {
	CGROUP_STAT = 1 << 0,
	CGROUP_PRESSURE = 1 << 1,
	CGROUP_PIDS = 1 << 2,
	CGROUP_ALL = (1 << 3) - 1,
};

struct cgroup_reader;

/*
 * path as of cgroup_mount_path_of(). One that is not charged itself, as the controller is
 * off for it, is charged to the next one above: that is read then. Returns 0, -ESRCH if
 * there is no such group, or -errno.
 */
int cgroup_reader_open(const struct cgroup_mount *mount, const char *path,
		       struct cgroup_reader **ret);
void cgroup_reader_free(struct cgroup_reader *reader);

/*
 * The group's path with what a container does not see of it, where the list of mounts
 * tells that. Borrowed.
 */
const char *cgroup_reader_whole_path(const struct cgroup_reader *reader);

/*
 * Read into *ret, whose storage is used again; its names stay as they are, parts that are
 * not asked for become unknown or empty. Returns 0, or -ESRCH if the group was removed,
 * with *ret untouched.
 */
int cgroup_reader_read(struct cgroup_reader *reader, unsigned int parts, struct cgroup *ret);

/*
 * Only the processes, and those of the group itself and of all below it, whoever owns the
 * limit: pids, pid_count and group_count of *ret. Returns as above.
 */
int cgroup_reader_read_pids(struct cgroup_reader *reader, struct cgroup *ret);

/*
 * Version 1: what the files of the level that owns the limit tell of cgroup->kernel; the rest
 * of that stays as it is. To be called after cgroup_reader_read() with the same *cgroup.
 */
void cgroup_reader_read_kernel(struct cgroup_reader *reader, struct cgroup *cgroup);

#endif
