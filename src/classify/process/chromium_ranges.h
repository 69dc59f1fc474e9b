/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chromium_ranges - recognise in the mappings the address ranges that Chromium
 * reserves for its heaps.
 */
#ifndef MS_CLASSIFY_PROCESS_CHROMIUM_RANGES_H
#define MS_CLASSIFY_PROCESS_CHROMIUM_RANGES_H

#include "model/known_use.h"
#include "model/mapping.h"

#define CHROMIUM_RANGE_MAX 8

struct chromium_ranges {
	struct chromium_range {
		uint64_t start_addr, end_addr;
		enum known_use use;
	} items[CHROMIUM_RANGE_MAX];
	size_t count;
};

/*
 * Find the address ranges that Chromium reserves for its heaps. *ret is empty if the
 * process does not belong to Chromium, which is recognised by the pools of PartitionAlloc
 * (model/allocator_signs.h).
 */
void chromium_ranges_find(const struct mapping_list *mappings,
			  struct chromium_ranges *ret);

/*
 * Return the use of the range that contains the mapping, or USE_NONE. Return USE_NONE for
 * executable memory, which contains compiled code in any of the ranges.
 */
enum known_use chromium_ranges_use(const struct chromium_ranges *ranges,
				   const struct mapping *m);

#endif
