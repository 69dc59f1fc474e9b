/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uses - recognise what mappings are used for from their shapes: the mapped programs,
 * and the name, address, size and flags of a mapping and its neighbours. The functions
 * are pure.
 *
 * A use changes neither the owner of a mapping nor any cell of the matrix. A mapping
 * whose shape fits no known use keeps USE_NONE: memstate does not guess.
 */
#ifndef MS_CLASSIFY_PROCESS_USES_H
#define MS_CLASSIFY_PROCESS_USES_H

#include "model/heap.h"
#include "model/mapping.h"
#include "model/usage.h"

/*
 * Set the use of each mapping, and add up the uses in *usage. Heap memory does not count,
 * except as memory of PostgreSQL's backends. The mappings must be in ascending address
 * order, with their owners set. `shares` contains the heaps' shares of the mappings in
 * ascending order of mapping; share_count is 0 if the heaps were not read.
 */
void classify_uses(struct usage *usage, struct mapping_list *mappings,
		   const struct heap_share *shares, size_t share_count);

#endif
