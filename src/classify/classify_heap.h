/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify_heap - the heap's owners into a matrix that mappings made. Pure.
 *
 * Per mapping: where its pages are all in one state, each owner's share is in that state;
 * where they are in several, only the sums of owners and of states are known.
 */
#ifndef MS_CLASSIFY_CLASSIFY_HEAP_H
#define MS_CLASSIFY_CLASSIFY_HEAP_H

#include "model/heap.h"
#include "model/mapping.h"
#include "model/usage.h"

/*
 * *usage is as classifier_end() left it, mappings those it was made of, with their
 * owners; those with memory of the heap are marked MAPPING_MALLOC. Where the heap's
 * quality is unknown, or its shares do not fit the mappings, only the quality is set:
 * unknown.
 */
void classify_heap(struct usage *usage, struct mapping_list *mappings,
		   const struct heap *heap);

/*
 * The same of sums, which may be foreign: where they do not fit the mappings, the heap's
 * quality stays unknown. States are known where all memory that may be the heap's is in
 * one.
 */
void classify_heap_sums(struct usage *usage, const struct mapping_list *mappings,
			const struct heap_sums *sums);

#endif
