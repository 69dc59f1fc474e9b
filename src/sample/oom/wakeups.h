/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wakeups - receive all kernel notifications about a cgroup that runs out of memory.
 * The module provides the file descriptors for a poll(2) call and the cause of each
 * wake-up. Unavailable sources are skipped; oom_wakeups_error() reports them. The
 * module is single-threaded.
 */
#ifndef MS_SAMPLE_OOM_WAKEUPS_H
#define MS_SAMPLE_OOM_WAKEUPS_H

#include <poll.h>
#include <stdbool.h>

#include "base/strbuf.h"
#include "model/cgroup.h"
#include "proc/cgroup/oom_marks.h"
#include "proc/system/procfs.h"

struct oom_wakeups;

enum oom_source {
	OOM_SOURCE_EVENTS, /* files of the cgroup */
	/*
	 * the tracepoint oom:mark_victim, which reports the process that the OOM killer
	 * has selected
	 */
	OOM_SOURCE_MARKS,
	OOM_SOURCE_LOG, /* the kernel log */
	OOM_SOURCE_COUNT_
};

enum oom_wake_flag {
	/* the usage has exceeded a threshold below the limit or has reached the limit */
	OOM_WAKE_LIMIT = 1 << 0,
	/* the cgroup is out of memory, so a kill will follow */
	OOM_WAKE_OOM = 1 << 1,
	OOM_WAKE_PRESSURE = 1 << 2, /* tasks of the cgroup are waiting for memory */
	OOM_WAKE_LOG = 1 << 3,	    /* oom_wakeups_log() returns new records */
};

#define OOM_WAKE_MARKS_MAX 16

struct oom_wake {
	unsigned int flags;
	struct oom_mark marks[OOM_WAKE_MARKS_MAX];
	size_t mark_count;
};

/*
 * Open the notification sources for the whole machine; oom_wakeups_set_group() adds those
 * of the cgroup. Return 0, or -errno if there is no cgroup hierarchy.
 */
int oom_wakeups_open(const struct procfs *fs, struct oom_wakeups **ret);
void oom_wakeups_close(struct oom_wakeups *wakeups);

/*
 * Watch the files of this cgroup and of its limit's owner from now on. Repeating the call
 * with the same cgroup and limit costs almost nothing.
 */
void oom_wakeups_set_group(struct oom_wakeups *wakeups, const struct cgroup *cgroup);

/* Return 0 if the notification source is available, otherwise -errno. */
int oom_wakeups_error(const struct oom_wakeups *wakeups, enum oom_source source);

/*
 * Return the file descriptors for poll(2), which are borrowed until the next call. They
 * include other_fd, unless it is -1.
 */
struct pollfd *oom_wakeups_polled(struct oom_wakeups *wakeups, int other_fd,
				  size_t *ret_count);

/* Process the results of poll(2) for the descriptors from oom_wakeups_polled(). */
void oom_wakeups_collect(struct oom_wakeups *wakeups, struct oom_wake *ret);

/*
 * Return the kernel log records that the caller has not cleared yet, in the format
 * of /dev/kmsg.
 */
struct strbuf *oom_wakeups_log(struct oom_wakeups *wakeups);

/* Append the records that the kernel has logged since the last read, without blocking. */
void oom_wakeups_read_log(struct oom_wakeups *wakeups);

/* Wait at most ms milliseconds for a new record in the kernel log. */
void oom_wakeups_wait_for_log(const struct oom_wakeups *wakeups, int ms);

#endif
