/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data_area - the static data of programs and libraries, in which allocators keep the
 * roots of their structures.
 */
#ifndef MS_WALK_BLOCKS_DATA_AREA_H
#define MS_WALK_BLOCKS_DATA_AREA_H

#include "walk/blocks/input.h"

/*
 * The mapping of a file's writable data, and the anonymous memory (.bss) directly after
 * that mapping. end_addr is exclusive.
 */
struct data_area {
	uint64_t start_addr, end_addr;
};

/*
 * Find the next data area, starting with the mapping at *index, and advance *index past
 * the area. Returns false if there are no more areas.
 */
bool data_area_next(const struct walk_input *input, size_t *index, struct data_area *ret);

#endif
