/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spread - the variation of a heap's figures over several readings of a running process.
 */
#ifndef MS_CLASSIFY_HEAP_SPREAD_H
#define MS_CLASSIFY_HEAP_SPREAD_H

#include "model/heap.h"

/* The minimum and maximum of each figure over several readings of one heap. */
struct spread {
	unsigned int count;
	uint64_t min[OWNER_HEAP_LAST + 1], max[OWNER_HEAP_LAST + 1];
};

/* Add a reading. All elements of *spread are 0 before the first reading. */
void spread_add(struct spread *spread, const struct heap *heap);

/* Store the number of readings and the differences between them in the heap. */
void spread_store(const struct spread *spread, struct heap *heap);

#endif
