/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fit_shares - adjust the figures of heaps to the Rss of the mappings, because the
 * process may have run between the reading of its mappings and the reading of its heaps.
 */
#ifndef MS_CLASSIFY_HEAP_FIT_SHARES_H
#define MS_CLASSIFY_HEAP_FIT_SHARES_H

#include "model/heap.h"
#include "model/mapping.h"

/*
 * Reduce the figures of all heaps, free memory first, so that the heaps' shares of a
 * mapping do not exceed its Rss.
 */
void fit_heap_shares(const struct mapping_list *mappings, struct heap *heap);

#endif
