/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * orphans - parcels that a memstate left in a process because it was killed before it
 * could remove them.
 *
 * A parcel is recognized by its code, byte for byte, in private memory (private_code).
 * The kernel's count of processes that have the shared page attached shows whether
 * another memstate still uses the parcel. A range is unmapped only if every part of it
 * is proven to belong to a parcel. In another ipc namespace the kernel keeps no such
 * count, so no orphan is found there.
 */
#ifndef MS_PROBE_BORROW_ORPHANS_H
#define MS_PROBE_BORROW_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/mapping.h"
#include "probe/borrow/landmarks.h"
#include "probe/borrow/request.h"

#define ORPHANS_MAX 8

struct orphans_search {
	const struct probe_request *request;
	const struct landmarks *marks;
	int process_fd, mem_fd;
	/* address in the process of a page that the caller has attached; 0: none */
	uint64_t own_addr;
};

/*
 * Find orphans and store their addresses in ascending order. Return the number
 * of orphans.
 */
size_t orphans_find(const struct orphans_search *search,
		    const struct mapping_list *mappings, uint64_t ret[ORPHANS_MAX]);

/*
 * Stop all threads briefly, and return true if none of them is in the parcel at addr. No
 * code jumps into an orphan, so an empty orphan stays empty.
 */
bool orphans_is_empty(const struct orphans_search *search, uint64_t addr);

#endif
