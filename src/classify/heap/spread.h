/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spread - the variation of a heap's figures over several readings of a running process.
 */
#ifndef MS_CLASSIFY_HEAP_SPREAD_H
#define MS_CLASSIFY_HEAP_SPREAD_H

#include "model/heap.h"

/* Minimum and maximum of each figure over several readings of a heap. */
struct spread {
	unsigned int count;
	uint64_t min[OWNER_HEAP_LAST + 1], max[OWNER_HEAP_LAST + 1];
};

/* Add a reading. Before the first reading, all members of *spread must be 0. */
void spread_add(struct spread *spread, const struct heap *heap);

/*
 * Store in *heap the number of readings, and the range (maximum - minimum) of each
 * figure.
 */
void spread_store(const struct spread *spread, struct heap *heap);

#endif
