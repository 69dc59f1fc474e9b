/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_wakeups - all that the kernel tells, while it happens, of a group that runs out of
 * memory: descriptors for one poll(2), and what woke.
 *
 * What cannot be had is left out, and can be asked for. One thread.
 */
#ifndef MS_SAMPLE_OOM_WAKEUPS_H
#define MS_SAMPLE_OOM_WAKEUPS_H

#include <poll.h>
#include <stdbool.h>

#include "base/strbuf.h"
#include "model/cgroup.h"
#include "proc/proc_oom_marks.h"
#include "proc/procfs.h"

struct oom_wakeups;

enum oom_source {
	OOM_SOURCE_EVENTS, /* the group's own files */
	OOM_SOURCE_MARKS,  /* who is about to be killed */
	OOM_SOURCE_LOG,	   /* the kernel's log */
	OOM_SOURCE_COUNT_
};

enum oom_wake_flag {
	OOM_WAKE_LIMIT = 1 << 0,    /* usage passed a part of the limit, or touched it */
	OOM_WAKE_OOM = 1 << 1,	    /* it is out of memory: a kill is next */
	OOM_WAKE_PRESSURE = 1 << 2, /* tasks wait for memory */
	OOM_WAKE_LOG = 1 << 3,	    /* there is more in oom_wakeups_log() */
};

#define OOM_WAKE_MARKS_MAX 16

struct oom_wake {
	unsigned int flags;
	struct oom_mark marks[OOM_WAKE_MARKS_MAX];
	size_t mark_count;
};

/* Of the machine; the group is said later. Returns 0, or -errno without a hierarchy. */
int oom_wakeups_open(const struct procfs *fs, struct oom_wakeups **ret);
void oom_wakeups_close(struct oom_wakeups *wakeups);

/*
 * The group, and whose limit counts, are these from now on: its files are watched. At
 * little cost if they are the same as before.
 */
void oom_wakeups_set_group(struct oom_wakeups *wakeups, const struct cgroup *cgroup);

/* 0 if the source can be had, or why not: -errno. */
int oom_wakeups_error(const struct oom_wakeups *wakeups, enum oom_source source);

/* For poll(2), with one of somebody else's, or -1. Borrowed until the next call. */
struct pollfd *oom_wakeups_polled(struct oom_wakeups *wakeups, int other_fd,
				  size_t *ret_count);

/* What poll(2) said of these. */
void oom_wakeups_take(struct oom_wakeups *wakeups, struct oom_wake *ret);

/* What the kernel has logged and was not cleared yet, as of /dev/kmsg. */
struct strbuf *oom_wakeups_log(struct oom_wakeups *wakeups);

/* Append what the kernel has logged since, without waiting. */
void oom_wakeups_read_log(struct oom_wakeups *wakeups);

/* Wait until the kernel logs something, for at most this long. */
void oom_wakeups_wait_for_log(const struct oom_wakeups *wakeups, int ms);

#endif
