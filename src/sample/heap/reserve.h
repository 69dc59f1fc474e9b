/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reserve - prepare a pause: run the last round of copying, and reserve memory
 * for the copy.
 */
#ifndef MS_SAMPLE_HEAP_RESERVE_H
#define MS_SAMPLE_HEAP_RESERVE_H

#include "sample/heap/moment.h"

/*
 * The tables for the heap walk and the leak scan need 1/HEAP_TABLES_SHARE of the size of
 * the copy. 1/HEAP_OTHERS_SHARE of the free memory is left to other programs.
 */
#define HEAP_TABLES_SHARE 8
#define HEAP_OTHERS_SHARE 4

/*
 * Reserve the memory for the copy now, so that it need not be allocated during the pause.
 * If part of the process's memory has already been copied, also copy the pages again that
 * were written since then. Return 0 or -errno.
 */
int heap_moment_reserve(struct heap_moment *moment);

/*
 * Reserve memory for a copy of this size, and check that there is also room for the
 * tables of the heap walk. The limits prevent memstate from causing the machine to swap.
 * Set needed_bytes, room_bytes and room_limit in *ret. Return 0 or -ENOMEM.
 */
int heap_make_room(struct heap_reader *reader, uint64_t bytes, struct heap *ret);

/* Return true if a part of the memory has been copied before the pause. */
static inline bool heap_moment_is_early(const struct heap_moment *moment)
{
	return moment->early.range_count > 0;
}

#endif
