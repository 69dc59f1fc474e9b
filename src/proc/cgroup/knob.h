/* SPDX-License-Identifier: GPL-2.0-or-later */
/* knob - change a setting of a cgroup temporarily, and restore the setting afterwards. */
#ifndef MS_PROC_CGROUP_KNOB_H
#define MS_PROC_CGROUP_KNOB_H

#include <stdbool.h>

#include "proc/cgroup/mount.h"

enum cgroup_knob_kind {
	/* v1: processes at the memory limit wait instead of being killed */
	CGROUP_KNOB_FREEZE,
	/* v2: processes are throttled while the cgroup uses more than this many bytes */
	CGROUP_KNOB_HIGH,
};

struct cgroup_knob {
	enum cgroup_knob_kind kind;
	int fd;
	uint64_t bytes; /* the value of the setting for CGROUP_KNOB_HIGH */
	char *dir;	/* path of the cgroup's directory */
	/* directories of the descendants for which CGROUP_KNOB_FREEZE was already on */
	char **kept;
	size_t kept_count, kept_capacity;
};

/*
 * Open the setting's file, and check that the setting is off. Return 0; -EOPNOTSUPP if
 * this cgroup version or kernel lacks the setting; -EBUSY if the setting is already on;
 * or -errno. The caller closes *ret with cgroup_knob_close().
 */
int cgroup_knob_open(const struct cgroup_mount *mount, const char *path,
		     enum cgroup_knob_kind kind, struct cgroup_knob *ret);
void cgroup_knob_close(struct cgroup_knob *knob);

/* Turn the setting on. Return 0 or -errno. */
int cgroup_knob_set(const struct cgroup_knob *knob);

/*
 * Return true if processes of the cgroup are waiting at the memory limit. cgroup v1 only.
 */
bool cgroup_knob_is_blocking(const struct cgroup_knob *knob);

/*
 * Turn the setting off in all descendants created since cgroup_knob_open(), because a new
 * v1 cgroup inherits the setting from its parent. Return 0, or the first -errno.
 */
int cgroup_knob_restore_descendants(const struct cgroup_knob *knob);

/*
 * Turn the setting off in the cgroup and its descendants, unless another program has
 * changed it in the meantime. Return 0 or -errno. If the cgroup was removed, return 0.
 */
int cgroup_knob_restore(const struct cgroup_knob *knob);

#endif
