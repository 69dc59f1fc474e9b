/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leak_scan - find the unreachable live blocks of a heap that was just read, and group
 * them. The scan works on a copy of the heap, while the process continues to run.
 *
 * A scan takes three calls: heap_reader_read() of a reader with copies_roots set, which
 * copies all memory that can contain pointers; leak_scan_mark(); and leak_scan_group().
 * The results refer to the reader's blocks, image and type names, which are valid until
 * its next read.
 */
#ifndef MS_SAMPLE_HEAP_LEAK_SCAN_H
#define MS_SAMPLE_HEAP_LEAK_SCAN_H

#include "classify/heap/leaks.h"
#include "sample/heap/reader.h"

/*
 * Set ret->quality according to how much is known about the heap. Unless it is unknown,
 * mark the blocks that are reachable from the roots. `mappings` and `heap` are the
 * results of the last heap read; they are borrowed until leak_scan_release(). progress
 * may be NULL; its context must remain valid until leak_scan_group() returns. Return 0,
 * or -ECANCELED if progress requested cancellation. *ret is always initialized; the
 * caller must release *ret before the reader.
 */
int leak_scan_mark(struct heap_reader *reader, const struct mapping_list *mappings,
		   const struct heap *heap, const struct mark_progress *progress,
		   struct leak_scan *ret);

/*
 * Find the directly leaked blocks among the unreachable blocks, group them, and compute
 * the sums. Do nothing if the quality is unknown. Return 0 or -ECANCELED.
 */
int leak_scan_group(struct heap_reader *reader, struct leak_scan *scan);

/*
 * Add the block to the group of blocks with the same type (if known),
 * size and category of content.
 */
void leak_scan_add(struct heap_reader *reader, const struct leak_scan *scan,
		   struct block_groups *groups, const struct leak *block);

void leak_scan_release(struct leak_scan *scan);

#endif
