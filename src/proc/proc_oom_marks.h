/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_oom_marks - which process the kernel is about to kill for want of memory, at the
 * moment that it chose it: the tracepoint oom:mark_victim, by perf_event_open(2).
 *
 * Anywhere on the machine, not in one group. A victim that is on a CPU can still be read
 * for some milliseconds.
 */
#ifndef MS_PROC_PROC_OOM_MARKS_H
#define MS_PROC_PROC_OOM_MARKS_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

struct oom_marks;

struct oom_mark {
	int pid;	    /* as of the initial namespace */
	uint64_t marked_ns; /* monotonic clock */
};

/*
 * Returns 0; -EOPNOTSUPP if there is no tracefs or no such tracepoint; -EACCES or -EPERM:
 * it wants root, or CAP_PERFMON and a tracefs that can be read; or another -errno.
 */
int oom_marks_open(struct oom_marks **ret);
void oom_marks_close(struct oom_marks *marks);

/* What wakes when there is one: a descriptor for each CPU. */
size_t oom_marks_count(const struct oom_marks *marks);
int oom_marks_fd(const struct oom_marks *marks, size_t index);

/* The next that was not taken yet. Returns 1, or 0 if there is none. */
int oom_marks_take(struct oom_marks *marks, struct oom_mark *ret);

#endif
