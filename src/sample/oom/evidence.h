/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evidence - collect evidence from a recording about why one process ended: the last
 * sample before the end, the development of the memory need, the process that grew, the
 * kernel's counters after the end, and the kernel's report.
 */
#ifndef MS_SAMPLE_OOM_EVIDENCE_H
#define MS_SAMPLE_OOM_EVIDENCE_H

#include "classify/oom/evidence.h"
#include "sample/oom/past.h"

/*
 * Collect the evidence about the end of one process. Returns 0, or -errno
 * from reading the recording.
 */
int oom_evidence_read(struct past_end *end, struct replay *replay,
		      struct oom_evidence *ret);

/*
 * Among the processes in the last sample whose language runtime limits its own
 * memory, find the largest. The runtime's limit is taken from the command line
 * and the recorded options.
 */
void oom_runtime_find(const struct past_end *end, const struct snapshot *processes,
		      struct oom_evidence *e);

/*
 * Find the process that grew most up to the sample `last`, and the mapping of it
 * that grew. The growth of each process is measured from its last plateau. Only
 * processes within the scope (the cgroup whose limit was reached) are
 * considered. Returns 0 or -errno.
 */
int oom_grower_find(const struct past_end *end, struct replay *replay, size_t last,
		    struct oom_grower *ret);

#endif
