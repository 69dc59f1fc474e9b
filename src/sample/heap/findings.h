/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * findings - the result of reading a heap once, and the part of this result that is
 * reused in later samples of the same process.
 */
#ifndef MS_SAMPLE_HEAP_FINDINGS_H
#define MS_SAMPLE_HEAP_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "classify/heap/past_heap.h"
#include "model/heap.h"
#include "model/heap_detail.h"
#include "model/helper_answer.h"
#include "model/mapping.h"
#include "model/usage.h"
#include "sample/heap/leak_kinds.h"

/*
 * The result of reading one heap. If the process was stopped, all
 * figures are from the moment of the stop.
 */
struct heap_findings {
	/*
	 * 0, or the negative errno value of the heap read. If usage.error
	 * is set, nothing was read.
	 */
	int error;
	/*
	 * Why the heap was read while the process was running: -EFBIG or -ETIMEDOUT if a
	 * stop would have been too long; otherwise 0.
	 */
	int refusal;
	bool is_running; /* true if the process was not stopped for the read */
	struct usage usage;
	struct mapping_list mappings;
	struct heap heap;
	struct heap_detail detail;
	bool has_detail;
	struct heap_leaks leaks;
	/*
	 * The allocator's own statistics. The string answer.problem is owned by the
	 * helpers and valid until they are freed.
	 */
	struct helper_answer answer;
	/* start time and duration of the read, and the CPU time it took */
	uint64_t taken_ns;
	uint64_t cost_ns;
	uint64_t cpu_ns;
};

void heap_findings_init(struct heap_findings *f);
void heap_findings_release(struct heap_findings *f);

/* Return true if the findings contain any heap figures. */
bool heap_findings_are_known(const struct heap_findings *f);

/*
 * Figures from the last read of a heap, used for samples in which the heap is not read.
 */
struct carried_heap {
	/* error of the last read, or the reason why the heap was not read */
	int error;
	const char *problem;
	/*
	 * why no copy was made while the process ran; as in usage.heap_pre_copy_problem
	 */
	const char *pre_copy_problem;
	uint64_t pause_ns, expected_ns, cpu_ns;
	struct reported reported;
	const char *helper_problem;

	/* figures of the last successful read; `past` is empty if no read succeeded */
	struct past_heap past;
	uint64_t taken_ns;
	bool is_running; /* true if the heap was read while the process ran */
	/*
	 * true if the figures are the allocator's own, false if they are from
	 * a heap walk
	 */
	bool is_reported;
};

#define CARRIED_HEAP_INIT                                             \
	{                                                             \
		.reported = REPORTED_UNKNOWN, .past = PAST_HEAP_INIT, \
	}

void carried_heap_release(struct carried_heap *c);

/*
 * Store the findings of a heap read. If they contain no figures, keep the figures of an
 * earlier read and return false.
 */
bool carried_heap_update(struct carried_heap *c, const struct heap_findings *f);

/*
 * Complete a sample: if *u does not include the heap's owners, estimate them from the
 * last figures. Set the members u->heap_* to the origin of the figures, or to the
 * reason why they are missing.
 */
void carried_heap_add(const struct carried_heap *c, struct usage *u,
		      struct mapping_list *mappings);

/*
 * Return the minimum time between the starts of two operations that each cost cost_ns, so
 * that these operations use at most max_share_per_mille of the time. A share of 0 or 1000
 * means that there is no limit.
 */
uint64_t heap_share_ns(uint64_t cost_ns, unsigned int max_share_per_mille);

#endif
