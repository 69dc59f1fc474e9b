/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leaks - what a scan for leaks found out, and how far it is to be believed.
 */
#ifndef MS_CLASSIFY_LEAKS_H
#define MS_CLASSIFY_LEAKS_H

#include "model/heap.h"
#include "model/mapping.h"
#include "walk/mark.h"

struct leak_scan {
	struct mapping_list mappings;
	struct heap heap;
	/*
	 * Of all below: exact; bound, when some memory could not be looked at: then blocks that
	 * seem leaked may be reached from there; unknown, when the heap is not known
	 * exactly: then there is nothing below.
	 */
	enum quality quality;
	const char *problem;	/* why it is not exact; NULL if it is */
	uint64_t swapped_bytes; /* that could not be looked at */

	struct mark mark;
	/* resident memory: reachable + leaked = the owner live of the matrix */
	uint64_t reachable_resident_bytes, leaked_resident_bytes;
	uint64_t mark_ns; /* CPU and waiting, after the target went on */
};

/* From the heap and the mappings: quality, problem and swapped_bytes. */
void leaks_judge(struct leak_scan *scan);

/* After the mark: the resident parts. */
void leaks_sum_resident(const struct blocks *blocks, struct leak_scan *scan);

#endif
