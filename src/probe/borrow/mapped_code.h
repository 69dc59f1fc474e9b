/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapped_code - find where a process has mapped the code of its program and libraries.
 */
#ifndef MS_PROBE_BORROW_MAPPED_CODE_H
#define MS_PROBE_BORROW_MAPPED_CODE_H

#include <stdint.h>

#include "model/mapping.h"

/*
 * Return a free address that is below the program and near the given call sites, or 0.
 * Addresses above the program are left free, so that the heap can grow there.
 */
uint64_t mapped_code_find_room(const struct mapping_list *mappings, uint64_t sites_addr);

/*
 * Return a checksum of the mapped code. If the checksum changes, libraries have been
 * loaded or unloaded.
 */
uint64_t mapped_code_sum(const struct mapping_list *mappings);

#endif
