/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/heap/spread.h"

void spread_add(struct spread *spread, const struct heap *heap)
{
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++) {
		uint64_t bytes = heap->owner_bytes[o];

		if (spread->count == 0 || bytes < spread->min[o])
			spread->min[o] = bytes;
		if (spread->count == 0 || bytes > spread->max[o])
			spread->max[o] = bytes;
	}
	spread->count++;
}

void spread_store(const struct spread *spread, struct heap *heap)
{
	heap->reading_count = spread->count;
	for (size_t o = 0; spread->count > 0 && o <= OWNER_HEAP_LAST; o++)
		heap->spread_bytes[o] = spread->max[o] - spread->min[o];
}
