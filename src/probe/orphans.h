/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * orphans - parcels in a process whose memstate was killed before it could remove them.
 *
 * A parcel is known by its code, byte for byte, in private memory (private_code). Whether
 * a memstate still uses it is known from the kernel, which counts who has the shared page
 * attached. Only ranges of which each part is proven to belong to a parcel are ever
 * unmapped. In another ipc namespace the page has no count, and no orphan is found.
 */
#ifndef MS_PROBE_ORPHANS_H
#define MS_PROBE_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/mapping.h"
#include "probe/landmarks.h"
#include "probe/request.h"

#define ORPHANS_MAX 8

struct orphans_look {
	const struct probe_request *request;
	const struct landmarks *marks;
	int process_fd, mem_fd;
	uint64_t own_addr; /* a page that the caller has attached itself; 0: none */
};

/* Write the addresses of orphans, in ascending order. Returns how many there are. */
size_t orphans_find(const struct orphans_look *look, const struct mapping_list *mappings,
		    uint64_t ret[ORPHANS_MAX]);

/*
 * Stop all threads for a moment: is none of them in the parcel at addr? Nothing leads into
 * an orphan that is empty, so it stays empty.
 */
bool orphans_is_empty(const struct orphans_look *look, uint64_t addr);

#endif
