/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evidence - collect the evidence about one end from a recording: the last sample before
 * the end, the development of the memory need, the process that grew, the kernel's
 * counters after the end, and the kernel's report.
 */
#ifndef MS_SAMPLE_OOM_EVIDENCE_H
#define MS_SAMPLE_OOM_EVIDENCE_H

#include "classify/oom/evidence.h"
#include "sample/oom/past.h"

/* Collect the evidence about one end. Returns 0 or -errno from reading the recording. */
int oom_evidence_read(struct past_end *end, struct replay *replay,
		      struct oom_evidence *ret);

/*
 * Find the largest process in the last sample whose language runtime limits its own
 * memory. The limit is taken from the command line and the recorded options.
 */
void oom_runtime_find(const struct past_end *end, const struct snapshot *processes,
		      struct oom_evidence *e);

/*
 * Find the process that grew most up to the sample `last`, and the mapping that grew.
 * The growth of each process is measured since its own last plateau. Only processes of
 * the scope count. Returns 0 or -errno.
 */
int oom_grower_find(const struct past_end *end, struct replay *replay, size_t last,
		    struct oom_grower *ret);

#endif
