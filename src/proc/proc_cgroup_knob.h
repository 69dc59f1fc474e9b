/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_cgroup_knob - a setting of a group that is changed for a while, and put back.
 */
#ifndef MS_PROC_PROC_CGROUP_KNOB_H
#define MS_PROC_PROC_CGROUP_KNOB_H

#include <stdbool.h>

#include "proc/proc_cgroup_mount.h"

enum cgroup_knob_kind {
	CGROUP_KNOB_FREEZE, /* v1: at the end of its memory nobody is killed, all wait */
	CGROUP_KNOB_HIGH,   /* v2: above so many bytes its processes are slowed down */
};

struct cgroup_knob {
	enum cgroup_knob_kind kind;
	int fd;
	uint64_t bytes; /* of CGROUP_KNOB_HIGH, when it is set */
	char *dir;	/* of the group */
	char **kept; /* of CGROUP_KNOB_FREEZE: folders below it that have had it before */
	size_t kept_count, kept_capacity;
};

/*
 * Open, and see that nobody else has set it. Returns 0; -EOPNOTSUPP: that version has no
 * such thing; -EBUSY: it is set already; or -errno.
 */
int cgroup_knob_open(const struct cgroup_mount *mount, const char *path,
		     enum cgroup_knob_kind kind, struct cgroup_knob *ret);
void cgroup_knob_close(struct cgroup_knob *knob);

/* Returns 0 or -errno. */
int cgroup_knob_set(const struct cgroup_knob *knob);

/* v1: do processes of the group stand still at the end of their memory? */
bool cgroup_knob_is_holding(const struct cgroup_knob *knob);

/*
 * v1: a group that is made takes over what the one above it has. In those that were made below
 * this one since it was opened it is put back. Returns 0, or the first -errno.
 */
int cgroup_knob_put_back_below(const struct cgroup_knob *knob);

/*
 * As it was, there and below, unless somebody else has set it meanwhile. A group that was
 * removed is none.
 */
int cgroup_knob_put_back(const struct cgroup_knob *knob);

#endif
