/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_conclusion - the sentences that open the reports about a heap and its leaks, and
 * the command to run next. Pure.
 */
#ifndef MS_CLASSIFY_HEAP_HEAP_CONCLUSION_H
#define MS_CLASSIFY_HEAP_HEAP_CONCLUSION_H

#include "classify/heap/block_groups.h"
#include "classify/heap/leaks.h"
#include "model/conclusion.h"
#include "model/heap.h"

/*
 * Add Rss, how much of it is allocated or free in the heap, and what a trim would return;
 * and set the next command. The heap's quality must not be unknown.
 */
void heap_conclude(struct conclusion *c, const struct usage *u, const struct heap *heap,
		   const struct next_place *place);

/*
 * Add how much is live and how much is leaked, and set the next command. The quality of
 * the scan must not be unknown. fresh: the sorted groups of new reachable blocks, one of
 * which the next command explains; NULL: not requested.
 */
void leaks_conclude(struct conclusion *c, const struct usage *u,
		    const struct leak_scan *scan, const struct block_groups *fresh,
		    const struct next_place *place);

#endif
