/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_conclusion - write the first sentences of the reports about a heap and its leaks,
 * and suggest the command to run next. The functions are pure.
 */
#ifndef MS_CLASSIFY_HEAP_HEAP_CONCLUSION_H
#define MS_CLASSIFY_HEAP_HEAP_CONCLUSION_H

#include "classify/heap/block_groups.h"
#include "classify/heap/leaks.h"
#include "model/conclusion.h"
#include "model/heap.h"

/*
 * Add sentences about Rss, the allocated and free parts of the heap, and the
 * memory that a trim would release. Suggest the next command. The quality of the
 * heap must not be unknown.
 */
void heap_conclude(struct conclusion *c, const struct usage *u, const struct heap *heap,
		   const struct next_place *place);

/*
 * Add sentences about live and leaked memory, and suggest the next command. The
 * quality of the leak scan must not be unknown. `fresh` contains the sorted groups
 * of new reachable blocks, one of which the next command explains; NULL: new
 * blocks were not requested.
 */
void leaks_conclude(struct conclusion *c, const struct usage *u,
		    const struct leak_scan *scan, const struct block_groups *fresh,
		    const struct next_place *place);

#endif
