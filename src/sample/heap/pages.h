/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages - find the resident pages that heap_moment_take() copies, and keep the figures of
 * smaps in line with these pages.
 */
#ifndef MS_SAMPLE_HEAP_PAGES_H
#define MS_SAMPLE_HEAP_PAGES_H

#include "sample/heap/moment.h"
#include "tracee/memory/peek.h"
#include "tracee/ptrace/stop.h"

/*
 * The ranges to copy, in ascending order. Each range ends at the end of its mapping. The
 * caller frees items.
 */
struct heap_ranges {
	struct peek_range *items;
	size_t count;
};

/*
 * Set moment->usage and moment->mappings. Use the caller's readings if they are recent
 * and still match the memory, because reading smaps takes much longer than finding the
 * resident pages. Otherwise read smaps. Also read smaps for each reading if a running
 * process is read several times. Return 0 or an error of sampler_read_mappings().
 */
int heap_pages_read_mappings(struct heap_moment *moment, const struct usage *u,
			     const struct mapping_list *mappings);

/*
 * Find the resident pages of all mappings to copy, and add them to moment->image. Return
 * 0 or an error of peek_find().
 */
int heap_pages_find(struct heap_moment *moment, const struct peek *peek,
		    struct heap_ranges *ranges);

/*
 * Find the resident pages in the paused target. smaps was read before the pause; read it
 * again if it no longer matches the memory. Return 0; -ETIMEDOUT if the pause has ended;
 * -ESTALE if there is not enough time to read smaps again; or another -errno.
 */
int heap_pages_find_stopped(struct heap_moment *moment, const struct peek *peek,
			    const struct stop *stop, struct heap_ranges *ranges);

#endif
