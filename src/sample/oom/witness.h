/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * witness - what a recording shows of one end: the last sample before it, how the
 * memory need had developed, which process grew, and the kernel's counters afterwards.
 */
#ifndef MS_SAMPLE_OOM_WITNESS_H
#define MS_SAMPLE_OOM_WITNESS_H

#include "classify/oom/evidence.h"
#include "sample/oom/past.h"

struct oom_witness {
	const struct oom_past *past;
	size_t first, last;		   /* samples since the previous end */
	const struct past_process *victim; /* NULL: not seen */
	const struct oom_kill *report;	   /* NULL: there is no report */
	enum oom_end end;
	uint64_t unix_ms; /* when it ended; 0: at some time before the next sample */

	/* Set by oom_witness_ask(): */
	struct oom_scope scope;
	const struct past_sample *samples; /* of the group whose limit was hit */
	struct past_sample *scope_samples; /* NULL: the samples are those of the past */
};

/* Collect the evidence. Returns 0 or -errno from reading the recording. */
int oom_witness_ask(const struct oom_witness *witness, struct replay *replay,
		    struct oom_evidence *ret);

/*
 * Among the processes of the last sample whose runtime limits itself, find the largest
 * one. The limit comes from the command line and the recorded environment.
 */
void oom_runtime_find(const struct oom_witness *witness, const struct snapshot *processes,
		      struct oom_evidence *e);

/*
 * Find the process that grew most up to the sample `last`, measuring each process since
 * its own last plateau, and the mapping that grew. Only processes of the scope count.
 * Returns 0 or -errno.
 */
int oom_grower_find(const struct oom_witness *witness, struct replay *replay, size_t last,
		    struct oom_grower *ret);

#endif
