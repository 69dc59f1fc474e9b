/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapping_groups - the mappings of one process, grouped by file. The functions are pure.
 */
#ifndef MS_RENDER_PROCESS_MAPPING_GROUPS_H
#define MS_RENDER_PROCESS_MAPPING_GROUPS_H

#include "model/mapping.h"

/* All mappings of one file, or a single mapping without a name. */
struct mapping_group {
	const struct mapping *first;
	uint64_t rss_bytes;
	uint64_t size_bytes;
	size_t mapping_count;
};

/*
 * Group the mappings by file. Set *ret to the groups, sorted by owner and then by size,
 * largest first, and return their number. The caller frees *ret.
 */
size_t mapping_groups_make(const struct mapping_list *mappings,
			   struct mapping_group **ret);

#endif
