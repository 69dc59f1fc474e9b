/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ask - query the allocator of a process through a helper, before and after memstate
 * walks its heap. Only heap_reader uses this module, and only if it has helpers.
 */
#ifndef MS_SAMPLE_HEAP_ASK_H
#define MS_SAMPLE_HEAP_ASK_H

#include "sample/heap/reader.h"

/*
 * Start the helper, so that the heap walk and the query see the same heap, and query the
 * allocator unless it is glibc. The query must precede the heap walk, because jemalloc
 * creates a cache for the thread that queries it, and the walk must see that cache.
 * Return true if the allocator was queried.
 */
bool heap_ask_before(struct heap_reader *reader, const struct usage *u);

/*
 * Query the allocator after the heap walk, unless is_asked is set. A query of glibc
 * needs the number of free chunks, which the walk has counted. Add the answer to *u,
 * and store bounds on the resident part of the heap in reader->answer. If the walk
 * could not assign the heap's memory to owners, assign it according to the answer and
 * set heap->is_reported.
 */
void heap_ask_after(struct heap_reader *reader, struct usage *u,
		    struct mapping_list *mappings, struct heap *heap, bool is_asked);

#endif
