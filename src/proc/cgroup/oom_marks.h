/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_marks - detect which process the OOM killer is about to kill, at the moment when
 * the kernel chooses it. The events of the tracepoint oom:mark_victim, read with
 * perf_event_open(2), cover the whole machine. The memory of a victim that is running on
 * a CPU remains readable for some milliseconds.
 */
#ifndef MS_PROC_CGROUP_OOM_MARKS_H
#define MS_PROC_CGROUP_OOM_MARKS_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

struct oom_marks;

struct oom_mark {
	int pid;	    /* pid of the victim in the initial pid namespace */
	uint64_t marked_ns; /* time of the mark (CLOCK_MONOTONIC) */
};

/*
 * Start to receive marks (the events of oom:mark_victim). Return 0; -EOPNOTSUPP if
 * tracefs or the tracepoint does not exist; -EACCES or -EPERM without privileges (root,
 * or CAP_PERFMON and a readable tracefs); or another -errno. The caller closes *ret with
 * oom_marks_close().
 */
int oom_marks_open(struct oom_marks **ret);
void oom_marks_close(struct oom_marks *marks);

/*
 * Return the number of descriptors for poll(2), one for each CPU. A descriptor becomes
 * readable when the kernel marks a victim.
 */
size_t oom_marks_count(const struct oom_marks *marks);
int oom_marks_fd(const struct oom_marks *marks, size_t index);

/*
 * Store the next mark, which identifies a victim, in *ret. Each mark is returned once.
 * Return 1, or 0 if there is no new mark.
 */
int oom_marks_read(struct oom_marks *marks, struct oom_mark *ret);

#endif
