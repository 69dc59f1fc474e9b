/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data_area - the static data of programs and libraries, in which allocators keep the
 * roots of their data structures.
 */
#ifndef MS_WALK_BLOCKS_DATA_AREA_H
#define MS_WALK_BLOCKS_DATA_AREA_H

#include "walk/blocks/input.h"

/*
 * The mapping of a file's writable data, and the anonymous memory (.bss) directly after
 * it. end_addr is exclusive.
 */
struct data_area {
	uint64_t start_addr, end_addr;
};

/*
 * Return true if the mapping may be the start of a data area: a writable mapping of a
 * file other than a Java class data archive (.jsa). These archives are large and mapped
 * writable, but they are not programs or libraries.
 */
bool data_area_may_begin(const struct mapping *m);

/*
 * Find the next data area, starting with the mapping at *index, and advance *index past
 * the area. Return false if there are no more areas.
 */
bool data_area_next(const struct walk_input *input, size_t *index, struct data_area *ret);

#endif
