/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify_heap - add the heap's owners to a matrix that was made from mappings. Pure.
 *
 * If all pages of a mapping are in one state, the owners' shares of the
 * mapping are in that state too. If the pages are in several states, only the
 * sums by owner and by state are known.
 */
#ifndef MS_CLASSIFY_PROCESS_CLASSIFY_HEAP_H
#define MS_CLASSIFY_PROCESS_CLASSIFY_HEAP_H

#include "model/heap.h"
#include "model/mapping.h"
#include "model/usage.h"

/*
 * Move the heap's shares of mappings to the heap's owners. *usage must come
 * from classifier_end(), and mappings must be those it was made from, with
 * their owners set. Mappings with heap memory are marked MAPPING_MALLOC. If
 * the heap's quality is unknown, or its shares do not match the mappings, only
 * set the quality in *usage, to unknown.
 */
void classify_heap(struct usage *usage, struct mapping_list *mappings,
		   const struct heap *heap);

/*
 * Move the heap's memory to the heap's owners, given only sums by owner,
 * which may be untrusted input. If the sums do not match the mappings, the
 * heap's quality stays unknown. States are known only if all memory that may
 * belong to the heap is in one state.
 */
void classify_heap_sums(struct usage *usage, const struct mapping_list *mappings,
			const struct heap_sums *sums);

#endif
