/* SPDX-License-Identifier: GPL-2.0-or-later */
/* leaks - results of a leak scan, and how reliable they are. */
#ifndef MS_CLASSIFY_HEAP_LEAKS_H
#define MS_CLASSIFY_HEAP_LEAKS_H

#include "classify/heap/block_groups.h"
#include "model/heap.h"
#include "model/mapping.h"
#include "walk/mark/mark.h"

struct leak_scan {
	/* mappings and heap of the scanned process; both borrowed */
	const struct mapping_list *mappings;
	const struct heap *heap;
	/*
	 * Quality of the results. Exact: all memory was scanned. Bound: some memory could
	 * not be scanned, and may contain pointers to blocks reported as leaked. Unknown:
	 * the heap could not be read exactly, and there are no results.
	 */
	enum quality quality;
	/* reason why the quality is not exact, as a static string; NULL if it is exact */
	const char *problem;
	/* bytes that could not be scanned because they are swapped out */
	uint64_t swapped_bytes;

	struct mark mark;
	/* directly leaked blocks, sorted by size, largest first */
	struct block_groups leaked;
	/*
	 * Resident bytes of reachable and of leaked blocks. Their sum equals the live
	 * memory in the report.
	 */
	uint64_t reachable_resident_bytes, leaked_resident_bytes;
	/*
	 * CPU time and waiting time of the mark phase, which runs after the target
	 * has resumed
	 */
	uint64_t mark_ns;
};

/*
 * Set the quality, problem and swapped_bytes of a leak scan from the state of
 * the heap and the mappings.
 */
void leaks_set_quality(struct leak_scan *scan);

/*
 * Compute reachable_resident_bytes and leaked_resident_bytes from the result of the
 * mark phase.
 */
void leaks_sum_resident(const struct blocks *blocks, struct leak_scan *scan);

#endif
