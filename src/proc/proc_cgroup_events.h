/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_cgroup_events - descriptors that poll(2) wakes on when something happens to the
 * memory of a group, without looking at it again and again.
 *
 * Sources: Documentation/admin-guide/cgroup-v1/memory.rst (9, 10), cgroup-v2.rst
 * (memory.events), accounting/psi.rst, Linux 6.18.
 */
#ifndef MS_PROC_PROC_CGROUP_EVENTS_H
#define MS_PROC_PROC_CGROUP_EVENTS_H

#include "proc/proc_cgroup_mount.h"

enum cgroup_event_kind {
	CGROUP_EVENT_OOM,      /* v1: reclaim found nothing more in it, or in one above */
	CGROUP_EVENT_USAGE,    /* v1: usage passed so many bytes, either way */
	CGROUP_EVENT_COUNTS,   /* v2: its memory.events were counted on */
	CGROUP_EVENT_PRESSURE, /* v2: tasks waited for memory, for a tenth of a second */
};

struct cgroup_event {
	enum cgroup_event_kind kind;
	int fd;
	int watched_fd; /* v1: the file; -1 */
	short polled;	/* for poll(2): POLLIN or POLLPRI */
};

/*
 * path as of cgroup_mount_path_of(); bytes of CGROUP_EVENT_USAGE. Returns 0, -EOPNOTSUPP
 * if that version has no such thing, -EACCES, or another -errno.
 */
int cgroup_event_open(const struct cgroup_mount *mount, const char *path,
		      enum cgroup_event_kind kind, uint64_t bytes,
		      struct cgroup_event *ret);
void cgroup_event_close(struct cgroup_event *event);

/* It woke: make it wake again next time. Returns 0, or -errno if the group was removed. */
int cgroup_event_take(const struct cgroup_event *event);

#endif
