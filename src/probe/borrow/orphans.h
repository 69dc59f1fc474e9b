/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * orphans - find helpers that remained in a process because memstate was killed before it
 * could remove them.
 *
 * Each helper has its own address range, called a parcel: code, page and stack. memstate
 * recognizes a parcel by comparing its code, in private memory, byte for byte
 * (private_code). The kernel's attach count of the helper's page shows whether another
 * memstate still uses the parcel. A range is unmapped only if each of its mappings is
 * proven to belong to a parcel. If the process and memstate are in different ipc
 * namespaces, the page is not a segment and has no attach count, so no orphan is found.
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
	/*
	 * address, in the process, of the page of the helper that the caller uses; 0 if
	 * the caller uses no helper
	 */
	uint64_t own_addr;
};

/*
 * Find the helpers of killed memstate processes, and store the addresses of their
 * parcels (code, page and stack) in ascending order. Return the number of helpers found.
 */
size_t orphans_find(const struct orphans_search *search,
		    const struct mapping_list *mappings, uint64_t ret[ORPHANS_MAX]);

/*
 * Stop all threads briefly, and return true if none of them is executing code of the
 * orphaned helper whose parcel (code, page and stack) is at addr. Nothing calls an
 * orphaned helper, so no thread can enter its code later.
 */
bool orphans_is_empty(const struct orphans_search *search, uint64_t addr);

#endif
