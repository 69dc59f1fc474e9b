/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * findings - the result of one read of a heap, and the part of the result that is carried
 * over to later samples of the same process.
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
	/* 0, or the -errno of the heap read; if usage.error is set, nothing was read */
	int error;
	/*
	 * 0; or -EFBIG or -ETIMEDOUT if the heap was read while the process ran, because
	 * the stop would have been too long
	 */
	int refusal;
	bool is_running; /* the process was not stopped */
	struct usage usage;
	struct mapping_list mappings;
	struct heap heap;
	struct heap_detail detail;
	bool has_detail;
	struct heap_leaks leaks;
	/*
	 * The allocator's own figures; the helpers own the text answer.problem,
	 * which is valid until they are freed.
	 */
	struct helper_answer answer;
	/* start of the read, duration of the read, and the CPU time that was used */
	uint64_t taken_ns;
	uint64_t cost_ns;
	uint64_t cpu_ns;
};

void heap_findings_init(struct heap_findings *f);
void heap_findings_release(struct heap_findings *f);

/* Return true if the findings contain heap figures. */
bool heap_findings_are_known(const struct heap_findings *f);

/*
 * The figures of the last read of a heap, for samples that are taken without reading it.
 */
struct carried_heap {
	int error; /* error of the last read, or the reason why the read was refused */
	const char *problem;
	uint64_t pause_ns, expected_ns, cpu_ns;
	struct reported reported;
	const char *helper_problem;

	/* figures of the last successful read; `past` is empty if there was none */
	struct past_heap past;
	uint64_t taken_ns;
	bool is_running; /* true if the heap was read while the process ran */
	/* true if the figures are the allocator's own, not a walk's */
	bool is_reported;
};

#define CARRIED_HEAP_INIT                                             \
	{                                                             \
		.reported = REPORTED_UNKNOWN, .past = PAST_HEAP_INIT, \
	}

void carried_heap_release(struct carried_heap *c);

/*
 * Store the findings of a read. If they contain no figures, keep the figures
 * of the earlier read and return false.
 */
bool carried_heap_update(struct carried_heap *c, const struct heap_findings *f);

/*
 * Complete a sample: unless *u already has the heap's owners, estimate
 * them from the last figures. Set u->heap_* to the origin of the figures,
 * or to the reason why there are none.
 */
void carried_heap_add(const struct carried_heap *c, struct usage *u,
		      struct mapping_list *mappings);

/*
 * Return how long to wait between the starts of two operations that each
 * cost cost_ns, so that they take at most max_share_per_mille of the time.
 * A share of 0 or 1000 means no limit.
 */
uint64_t heap_share_ns(uint64_t cost_ns, unsigned int max_share_per_mille);

#endif
