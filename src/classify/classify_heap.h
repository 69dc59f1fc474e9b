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

#endif
