/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_witness - what a recording saw of one end: the last sample before it, what need had
 * done until then, who grew, and what the kernel's counts say after it.
 */
#ifndef MS_SAMPLE_OOM_WITNESS_H
#define MS_SAMPLE_OOM_WITNESS_H

#include "classify/oom_evidence.h"
#include "sample/oom_past.h"

struct oom_witness {
	const struct oom_past *past;
	size_t first, last; /* samples since the end before this one */
	const struct past_process *victim; /* NULL: not seen */
	const struct oom_kill *report;     /* NULL: none */
	enum oom_end end;
	uint64_t unix_ms; /* when that was; 0: before the next sample */
};

/* Returns 0 or -errno of reading the recording. */
int oom_witness_ask(const struct oom_witness *witness, struct replay *replay,
		    struct oom_evidence *ret);

/*
 * Find, among the processes of the last sample whose runtime sets itself a limit, the largest
 * one, and that limit, as its command line and its recorded environment have it.
 */
void oom_runtime_find(const struct oom_witness *witness, const struct snapshot *processes,
		      struct oom_evidence *e);

/*
 * Find the process that grew most up to the sample `last`, each measured since its own last
 * plateau, and the mapping in which it grew. Only processes below the group whose limit was
 * hit count, where that is known. Returns 0 or -errno.
 */
int oom_grower_find(const struct oom_witness *witness, struct replay *replay, size_t last,
		    struct oom_grower *ret);

#endif
