/* SPDX-License-Identifier: GPL-2.0-or-later */
/* leaks - the results of a leak scan and their quality. */
#ifndef MS_CLASSIFY_HEAP_LEAKS_H
#define MS_CLASSIFY_HEAP_LEAKS_H

#include "classify/heap/block_groups.h"
#include "model/heap.h"
#include "model/mapping.h"
#include "walk/mark/mark.h"

struct leak_scan {
	/* mappings and heap of the scanned process; borrowed */
	const struct mapping_list *mappings;
	const struct heap *heap;
	/*
	 * Quality of the results below: exact; bound, if some memory could
	 * not be scanned, so that blocks reported as leaked may be reachable
	 * from that memory; or unknown, if the heap could not be read
	 * exactly, so that there are no results.
	 */
	enum quality quality;
	/* why quality is not exact; NULL if it is exact. Static. */
	const char *problem;
	uint64_t swapped_bytes; /* swapped-out memory, which could not be scanned */

	struct mark mark;
	struct block_groups leaked; /* direct leaks, sorted by size, largest first */
	/*
	 * Resident bytes of reachable and of leaked blocks, which add up to
	 * the live memory in the matrix.
	 */
	uint64_t reachable_resident_bytes, leaked_resident_bytes;
	/* CPU and waiting time of marking, after the target was resumed */
	uint64_t mark_ns;
};

/*
 * Set quality, problem and swapped_bytes of the scan from the
 * state of the heap and the mappings.
 */
void leaks_set_quality(struct leak_scan *scan);

/*
 * Compute reachable_resident_bytes and leaked_resident_bytes. Call this
 * function after the blocks were marked.
 */
void leaks_sum_resident(const struct blocks *blocks, struct leak_scan *scan);

#endif
