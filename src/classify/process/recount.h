/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recount - adjust the figures of mappings, read from smaps, to a later count of their
 * pages. The functions are pure.
 */
#ifndef MS_CLASSIFY_PROCESS_RECOUNT_H
#define MS_CLASSIFY_PROCESS_RECOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/mapping.h"
#include "model/usage.h"

enum recount {
	/* the figures of the mapping already match the count of its pages */
	RECOUNT_EQUAL,
	/* the figures of the mapping were changed to match the count of its pages */
	RECOUNT_CHANGED,
	RECOUNT_UNKNOWN, /* smaps must be read again; the figures are unchanged */
};

/*
 * Adjust the figures of a mapping to its current number of resident pages, if the states
 * of the added or released pages are certain. They are certain in private anonymous
 * memory:
 *
 * - New pages are private and dirty, because a page fault that only reads maps the zero
 *   page, which Rss does not include (do_anonymous_page() in mm/memory.c).
 * - Released pages were private and dirty if all pages were.
 *
 * Return RECOUNT_UNKNOWN for all other mappings, and if swapped_bytes, which includes
 * pages under migration, differs from Swap in smaps: pages may then have been swapped, or
 * may be resident but unreadable.
 */
enum recount recount_mapping(struct mapping *m, uint64_t resident_bytes,
			     uint64_t swapped_bytes);

/*
 * Recompute the figures of *u from its mappings, after recount_mapping() has changed some
 * of them. The owners of the mappings stay the same.
 */
void recount_usage(struct usage *u, const struct mapping_list *mappings);

#endif
