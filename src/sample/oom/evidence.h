/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evidence - collect evidence from a recording about why a process ended: the last sample
 * before the end, how the memory need changed, the process that grew, the kernel's
 * counters after the end, and the kernel's report.
 */
#ifndef MS_SAMPLE_OOM_EVIDENCE_H
#define MS_SAMPLE_OOM_EVIDENCE_H

#include "classify/oom/evidence.h"
#include "sample/oom/past.h"

/*
 * Collect the evidence about the end of a process. Return 0, or -errno from reading
 * the recording.
 */
int oom_evidence_read(struct past_end *end, struct replay *replay,
		      struct oom_evidence *ret);

/*
 * Find the largest process in the last sample whose language runtime limits its own
 * memory. The limit comes from the command line and the recorded options. If MariaDB or
 * PostgreSQL has no such option, the limit is the size of its buffer pool or shared
 * memory, taken from the latest sample that contains its mappings. `last` is the index of
 * the last sample.
 */
void oom_runtime_find(const struct past_end *end, struct replay *replay, size_t last,
		      const struct snapshot *processes, struct oom_evidence *e);

/*
 * Find the process that grew most up to the sample `last`, and the mapping in it that
 * grew. The growth of each process is measured from its last plateau. Consider only
 * processes within the scope, which is the cgroup whose limit was reached. Return 0
 * or -errno.
 */
int oom_grower_find(const struct past_end *end, struct replay *replay, size_t last,
		    struct oom_grower *ret);

#endif
