/* SPDX-License-Identifier: GPL-2.0-or-later */
/* leaks - the results of a leak scan and their quality. */
#ifndef MS_CLASSIFY_HEAP_LEAKS_H
#define MS_CLASSIFY_HEAP_LEAKS_H

#include "classify/heap/block_groups.h"
#include "model/heap.h"
#include "model/mapping.h"
#include "walk/mark/mark.h"

struct leak_scan {
	/* the heap that was scanned; borrowed */
	const struct mapping_list *mappings;
	const struct heap *heap;
	/*
	 * Quality of all results below. exact; bound: some memory could not be scanned,
	 * and blocks reported as leaked may be reachable from there; unknown: the heap is
	 * not known exactly, and there are no results.
	 */
	enum quality quality;
	const char *problem;	/* why it is not exact; NULL if it is. Static. */
	uint64_t swapped_bytes; /* memory that could not be scanned */

	struct mark mark;
	struct block_groups leaked; /* the direct leaks; sorted, largest first */
	/* Resident bytes: reachable + leaked = owner live of the matrix. */
	uint64_t reachable_resident_bytes, leaked_resident_bytes;
	uint64_t mark_ns; /* CPU and waiting time after the target was resumed */
};

/* Set quality, problem and swapped_bytes from the heap and the mappings. */
void leaks_judge(struct leak_scan *scan);

/* Compute the resident parts. Call it after the mark. */
void leaks_sum_resident(const struct blocks *blocks, struct leak_scan *scan);

#endif
