/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fit_shares - fit the figures of heaps into the mappings, if the process ran while its
 * mappings and its heaps were read.
 */
#ifndef MS_CLASSIFY_HEAP_FIT_SHARES_H
#define MS_CLASSIFY_HEAP_FIT_SHARES_H

#include "model/heap.h"
#include "model/mapping.h"

/*
 * Reduce the figures of all heaps so that the heaps' shares of each mapping do not exceed
 * its Rss. Free memory is reduced first.
 */
void fit_heap_shares(const struct mapping_list *mappings, struct heap *heap);

#endif
