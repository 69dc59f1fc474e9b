/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify_heap - add the heap's owners (live, free, metadata) to a matrix that was
 * computed from mappings. The functions are pure.
 *
 * If all pages of a mapping are in one state, the owners' shares of the mapping are in
 * that state, too. If the pages are in several states, only the sums by owner and by
 * state are known.
 */
#ifndef MS_CLASSIFY_PROCESS_CLASSIFY_HEAP_H
#define MS_CLASSIFY_PROCESS_CLASSIFY_HEAP_H

#include "model/heap.h"
#include "model/mapping.h"
#include "model/usage.h"

/*
 * Move the heap's share of each mapping to the heap's owners (live, free, metadata).
 * *usage must be a result of classifier_end(). `mappings` must be the mappings from which
 * it was computed, with their owners set. Mark mappings that contain heap memory with
 * MAPPING_HEAP. If the heap is unknown or inconsistent with the mappings, leave the
 * matrix unchanged, and set usage->heap_quality to QUALITY_UNKNOWN.
 */
void classify_heap(struct usage *usage, struct mapping_list *mappings,
		   const struct heap *heap);

/*
 * Like classify_heap(), but use only the sums of the heap by owner, which may be
 * untrusted input, and mark no mappings. If the sums contradict the mappings,
 * usage->heap_quality stays QUALITY_UNKNOWN. The page states are known only if all memory
 * that may belong to the heap is in one state.
 */
void classify_heap_sums(struct usage *usage, const struct mapping_list *mappings,
			const struct heap_sums *sums);

#endif
