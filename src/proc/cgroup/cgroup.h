/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup - read the memory figures of one cgroup repeatedly at low cost, by keeping its
 * files open. Supports cgroup v1 and v2.
 *
 * Sources: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst, Linux 6.18.
 */
#ifndef MS_PROC_CGROUP_CGROUP_H
#define MS_PROC_CGROUP_CGROUP_H

#include "model/cgroup.h"
#include "proc/cgroup/mount.h"

/*
 * The figures of a cgroup that a caller can request, besides the usage and limits of all
 * levels, which are always read.
 */
enum cgroup_part {
	CGROUP_STAT = 1 << 0,
	CGROUP_PRESSURE = 1 << 1,
	CGROUP_PIDS = 1 << 2,
	CGROUP_ALL = (1 << 3) - 1,
};

struct cgroup_reader;

/*
 * Open the cgroup at path, as returned by cgroup_mount_path_of(), and all its ancestors
 * below the mount. If the memory controller is off for the cgroup, the kernel charges its
 * memory to the nearest ancestor with the controller; the reader then reports that
 * ancestor. Return 0, -ESRCH if the cgroup does not exist, or -errno.
 */
int cgroup_reader_open(const struct cgroup_mount *mount, const char *path,
		       struct cgroup_reader **ret);
void cgroup_reader_free(struct cgroup_reader *reader);

/*
 * Return a number that identifies the cgroup: a cgroup that is removed and created again
 * at the same path has a different number. Return 0 if the number is unknown.
 */
uint64_t cgroup_reader_id(const struct cgroup_reader *reader);

/*
 * Return the full path of the cgroup. In a container, the path includes the part outside
 * the container if the mount list shows that part. The reader owns the text.
 */
const char *cgroup_reader_full_path(const struct cgroup_reader *reader);

/*
 * Read the requested parts into *ret, reusing its storage. The names in *ret are
 * unchanged; parts that were not requested become unknown or empty. Return 0, or -ESRCH
 * if the cgroup was removed. If it was removed during the read, *ret is incomplete.
 */
int cgroup_reader_read(struct cgroup_reader *reader, unsigned int parts,
		       struct cgroup *ret);

/*
 * Read only the processes of the cgroup itself and of all its descendants, even if the
 * limit belongs to an ancestor. Set pids, pid_count and group_count of *ret. Return 0, or
 * -ESRCH if the cgroup was removed.
 */
int cgroup_reader_read_pids(struct cgroup_reader *reader, struct cgroup *ret);

/*
 * Set the members of cgroup->kernel that cgroup v1 reports for the cgroup with the
 * effective limit. With v2, these members become unknown. The other members are
 * unchanged. Call this function after cgroup_reader_read() with the same *cgroup.
 */
void cgroup_reader_read_kernel(struct cgroup_reader *reader, struct cgroup *cgroup);

#endif
