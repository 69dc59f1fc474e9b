/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data_area - the static data of programs and libraries, in which allocators keep the
 * roots of their structures.
 */
#ifndef MS_WALK_BLOCKS_DATA_AREA_H
#define MS_WALK_BLOCKS_DATA_AREA_H

#include "walk/blocks/input.h"

/*
 * The mapping of a file's writable data and the anonymous memory directly after it
 * (.bss). The end is exclusive.
 */
struct data_area {
	uint64_t start_addr, end_addr;
};

/*
 * Find the next area from the mapping with index *index on, and advance *index past it.
 * Returns false if there is none.
 */
bool data_area_next(const struct walk_input *input, size_t *index, struct data_area *ret);

#endif
