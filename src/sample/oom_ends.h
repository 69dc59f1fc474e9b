/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_ends - who ended in a recording, with the evidence of why: each kill for want of
 * memory that the kernel's log, its counts, or what was recorded beside the samples tell
 * of; where there is none, the process that is gone, or nobody.
 */
#ifndef MS_SAMPLE_OOM_ENDS_H
#define MS_SAMPLE_OOM_ENDS_H

#include "classify/oom_evidence.h"
#include "sample/oom_past.h"

struct oom_ends {
	struct oom_evidence *items; /* by time */
	size_t count;
	struct oom_past past; /* which they borrow from */
};

/*
 * log: reports of a log of that machine, borrowed by the evidence; those that are of
 * nobody in the recording are left out. May be empty. With targets only these processes'
 * ends. Returns 0, -ESRCH if the recording has none of the targets, or -errno of reading it.
 */
int oom_ends_read(struct replay *replay, const struct oom_kill_list *log,
		  const struct targets *targets, struct oom_ends *ret);
void oom_ends_release(struct oom_ends *ends);

#endif
