/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * findings - the result of one read of a heap, and what of it applies to later samples of
 * the same process.
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
 * The result of one read. If the process was stopped, all figures are from the moment of
 * the stop.
 */
struct heap_findings {
	/* 0, or the -errno of the heap read; if usage.error is set, nothing was read */
	int error;
	/*
	 * 0; or -EFBIG or -ETIMEDOUT if the stop would have been too long, and the heap
	 * was therefore read while the process ran
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
	 * the allocator's own figures; `problem` is owned by the helpers and valid until
	 * they are freed
	 */
	struct helper_answer answer;
	/* start of the read, its duration, and the CPU time that it used */
	uint64_t taken_ns;
	uint64_t cost_ns;
	uint64_t cpu_ns;
};

void heap_findings_init(struct heap_findings *f);
void heap_findings_release(struct heap_findings *f);

/* Return true if the findings contain heap figures. */
bool heap_findings_are_known(const struct heap_findings *f);

/* The figures of the last read, for samples that are taken without reading the heap. */
struct carried_heap {
	int error; /* of the last read: its error or refusal */
	const char *problem;
	uint64_t pause_ns, expected_ns, cpu_ns;
	struct said said;
	const char *helper_problem;

	/* from the last read that found figures; past is empty if there was none */
	struct past_heap past;
	uint64_t taken_ns;
	bool is_running; /* read while the process ran */
	bool is_said;	 /* the allocator's own figures, not those of a walk */
};

#define CARRIED_HEAP_INIT                                     \
	{                                                     \
		.said = SAID_UNKNOWN, .past = PAST_HEAP_INIT, \
	}

void carried_heap_release(struct carried_heap *c);

/*
 * Store the findings of a read. Findings without figures leave the earlier figures in
 * place; then the return value is false.
 */
bool carried_heap_update(struct carried_heap *c, const struct heap_findings *f);

/*
 * Complete a sample: estimate the heap's owners from the last figures unless *u has them
 * already, and set u->heap_* to the origin of the figures or to why there are none.
 */
void carried_heap_add(const struct carried_heap *c, struct usage *u,
		      struct mapping_list *mappings);

/*
 * Return how long to wait between two starts of an operation that costs cost_ns, so that
 * it takes at most max_share_per_mille of the time. 0 and 1000: no limit.
 */
uint64_t heap_share_ns(uint64_t cost_ns, unsigned int max_share_per_mille);

#endif
