/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ends - the ends of processes in a recording, with the evidence for each cause. An
 * end is an OOM kill that the kernel log, the kernel's counters, or recorded events
 * report. Without any kill it is the process that is gone, or there is no victim.
 */
#ifndef MS_SAMPLE_OOM_ENDS_H
#define MS_SAMPLE_OOM_ENDS_H

#include "classify/oom/evidence.h"
#include "sample/oom/past.h"

struct oom_ends {
	struct oom_evidence *items; /* sorted by time */
	size_t count;
	struct oom_past past; /* the items borrow from it */
};

/*
 * Find the ends. `log` has reports of a log of that machine; the evidence borrows them,
 * and reports about nobody in the recording are ignored. It may be empty. If there are
 * targets, only their ends are listed. Returns 0, -ESRCH if the recording has none of the
 * targets, or -errno from reading it.
 */
int oom_ends_read(struct replay *replay, const struct oom_kill_list *log,
		  const struct targets *targets, struct oom_ends *ret);
void oom_ends_release(struct oom_ends *ends);

#endif
