/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ends - find the ends of processes in a recording, with the evidence for each cause.
 * An end is an OOM kill that the kernel log, the kernel's counters, or recorded
 * events report. If there was no kill, there is exactly one end: the exit of the largest
 * process or, if that process is still alive, the end of the recording, without a victim.
 */
#ifndef MS_SAMPLE_OOM_ENDS_H
#define MS_SAMPLE_OOM_ENDS_H

#include "classify/oom/evidence.h"
#include "sample/oom/past.h"

struct oom_ends {
	struct oom_evidence *items; /* the ends, sorted by time */
	size_t count;
	struct oom_past past; /* items[] contains pointers into this struct */
};

/*
 * Find the ends. `log` contains reports of the recorded machine's kernel log and may be
 * empty; the evidence borrows them. Reports about processes outside the recording are
 * ignored. If there are targets, only their ends are listed. Returns 0, -ESRCH if the
 * recording contains none of the targets, or -errno from reading the recording.
 */
int oom_ends_read(struct replay *replay, const struct oom_kill_list *log,
		  const struct targets *targets, struct oom_ends *ret);
void oom_ends_release(struct oom_ends *ends);

#endif
