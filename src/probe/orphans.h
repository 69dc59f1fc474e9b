/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * orphans - parcels in a process whose memstate was killed before it could take them out again.
 *
 * A memstate that is there has the page attached, or, while it puts it in, the code: the
 * kernel counts that. In another ipc namespace nothing is known, and nothing found.
 */
#ifndef MS_PROBE_ORPHANS_H
#define MS_PROBE_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/mapping.h"

#define ORPHANS_MAX 8

/*
 * Where they begin, by address; own_addr (0: none) is the page that the caller itself has
 * attached.
 */
size_t orphans_find(const struct mapping_list *mappings, uint64_t own_addr,
		    uint64_t ret[ORPHANS_MAX]);

#endif
