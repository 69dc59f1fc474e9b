/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * complete - check that a copy contains all resident pages that the kernel reports.
 */
#ifndef MS_SAMPLE_HEAP_COMPLETE_H
#define MS_SAMPLE_HEAP_COMPLETE_H

#include <stdbool.h>

#include "model/heap.h"
#include "sample/heap/moment.h"
#include "sample/heap/reader.h"

/*
 * Return true if the copy is complete outside the heap: it contains as many resident
 * pages as the kernel reports for the roots, if they were copied, and for the data of the
 * threads, which contains pointers to per-thread caches. A page that is being migrated
 * counts as resident, but cannot be copied.
 */
bool heap_roots_are_complete(const struct heap_reader *reader,
			     const struct heap_moment *moment);

/*
 * Change the quality of the heap from exact to estimate if the copy lacks pages of the
 * heap's mappings, or if are_others_complete is false.
 */
void heap_check_copy(const struct heap_reader *reader, const struct heap_moment *moment,
		     struct heap *heap, bool are_others_complete);

#endif
