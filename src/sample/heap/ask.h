/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ask - query the allocator before and after the walk of its heap. Internal to
 * heap_reader, which must have helpers.
 */
#ifndef MS_SAMPLE_HEAP_ASK_H
#define MS_SAMPLE_HEAP_ASK_H

#include "sample/heap/reader.h"

/*
 * Start the helper, so that the walk and the query see the same heap. Query all allocators
 * but glibc: jemalloc creates a cache for the thread that queries it, which the walk must
 * see. Returns true if the allocator was queried.
 */
bool heap_ask_before(struct heap_reader *reader, const struct usage *u);

/*
 * Return true if the heap need not be walked, because the walk does not support its
 * allocator, and the query succeeded. Without an answer the walk finds out the reason why
 * the heap is unknown.
 */
bool heap_ask_replaces_walk(const struct heap_reader *reader, const struct usage *u);

/*
 * Unless is_asked, query the allocator: a query of glibc needs the number of free chunks
 * from the walk. Add the answer to *u and the bounds to reader->answer. If the walk did
 * not find the heap's owners, the answer replaces it (heap->is_said).
 */
void heap_ask_after(struct heap_reader *reader, struct usage *u,
		    struct mapping_list *mappings, struct heap *heap, bool is_asked);

#endif
