/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ends - find when and why processes ended in a recording. An end is an OOM kill that the
 * kernel log, the kernel's counters, or recorded events report. Without a kill, there is
 * exactly one end: the exit of the largest process or, if that process is still alive,
 * the end of the recording, without a victim.
 */
#ifndef MS_SAMPLE_OOM_ENDS_H
#define MS_SAMPLE_OOM_ENDS_H

#include "classify/oom/evidence.h"
#include "sample/oom/past.h"

struct oom_ends {
	struct oom_evidence *items; /* ends of processes, sorted by time */
	size_t count;
	/* facts about the recording's samples, which items[] point to */
	struct oom_past past;
};

/*
 * Find the ends of processes. `log` contains the reports in the kernel log of the
 * recorded machine; it may be empty and is borrowed. Reports about processes that were
 * not recorded are ignored. If there are targets, list only their ends. Return 0, -ESRCH
 * if the recording does not contain any target, or -errno from reading the recording.
 */
int oom_ends_read(struct replay *replay, const struct oom_kill_list *log,
		  const struct targets *targets, struct oom_ends *ret);
void oom_ends_release(struct oom_ends *ends);

#endif
