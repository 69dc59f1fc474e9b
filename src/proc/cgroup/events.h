/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events - descriptors that become ready in poll(2) when a memory event of a cgroup
 * occurs, so that memstate need not read the cgroup's files periodically.
 *
 * Sources: Documentation/admin-guide/cgroup-v1/memory.rst (9, 10), cgroup-v2.rst
 * (memory.events), accounting/psi.rst, Linux 6.18.
 */
#ifndef MS_PROC_CGROUP_EVENTS_H
#define MS_PROC_CGROUP_EVENTS_H

#include "proc/cgroup/mount.h"

enum cgroup_event_kind {
	CGROUP_EVENT_OOM, /* v1: the cgroup or an ancestor has run out of memory */
	/* v1: memory usage rose above or fell below the threshold */
	CGROUP_EVENT_USAGE,
	CGROUP_EVENT_COUNTS,   /* v2: a counter in memory.events increased */
	CGROUP_EVENT_PRESSURE, /* v2: tasks waited at least 0.1 s for memory within 2 s */
};

struct cgroup_event {
	enum cgroup_event_kind kind;
	int fd;
	int watched_fd; /* v1: descriptor of the file whose events are reported; v2: -1 */
	short polled;	/* POLLIN or POLLPRI, the event to request from poll(2) */
};

/*
 * Open an event source for the cgroup at path, as returned by cgroup_mount_path_of().
 * bytes is the threshold for CGROUP_EVENT_USAGE. Return 0; -EOPNOTSUPP if this cgroup
 * version or kernel does not support the event; -EACCES; or another -errno. The caller
 * closes *ret with cgroup_event_close().
 */
int cgroup_event_open(const struct cgroup_mount *mount, const char *path,
		      enum cgroup_event_kind kind, uint64_t bytes,
		      struct cgroup_event *ret);
void cgroup_event_close(struct cgroup_event *event);

/*
 * Consume the event that poll(2) has reported, so that poll(2) can wait for the next
 * event. Return 0, or -errno if the cgroup was removed.
 */
int cgroup_event_consume(const struct cgroup_event *event);

#endif
