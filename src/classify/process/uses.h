/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uses - recognise what mappings are used for from their shapes: the mapped programs,
 * and the name, address, size and flags of a mapping and its neighbours. The
 * functions are pure.
 *
 * The use of a mapping does not affect the matrix of memory by owner and state. A mapping
 * whose shape fits no known use keeps USE_NONE: memstate does not guess.
 */
#ifndef MS_CLASSIFY_PROCESS_USES_H
#define MS_CLASSIFY_PROCESS_USES_H

#include "model/heap.h"
#include "model/mapping.h"
#include "model/usage.h"

/*
 * Set the use of each mapping, and add the memory of each use to *usage. Heap memory is
 * not included, except as memory of PostgreSQL's backends. The mappings must be in
 * ascending address order, with their owners set. `shares` lists the heap memory in each
 * mapping, in the order of the mappings; share_count is 0 if the heaps were not read.
 */
void classify_uses(struct usage *usage, struct mapping_list *mappings,
		   const struct heap_share *shares, size_t share_count);

#endif
