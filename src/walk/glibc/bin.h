/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bin - find the glibc malloc list that contains a free chunk. Handles one chunk at
 * a time and reads only the copy that the walk has validated.
 */
#ifndef MS_WALK_GLIBC_BIN_H
#define MS_WALK_GLIBC_BIN_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"

enum glibc_bin {
	GLIBC_BIN_UNKNOWN, /* in an arena's list that could not be determined */
	GLIBC_BIN_CACHE,   /* a thread cache (tcache) */
	GLIBC_BIN_FAST,
	GLIBC_BIN_UNSORTED, /* freed since malloc last sorted this list */
	GLIBC_BIN_SMALL,
	GLIBC_BIN_LARGE,
	GLIBC_BIN_COUNT_
};

/*
 * Return the list that contains a cached or free block of a chain. Sets
 * *ret_chunk_bytes to the size of all chunks in that list, heads included, or to 0 if
 * it holds several sizes.
 */
enum glibc_bin glibc_bin_find(const struct blocks *blocks, const struct heap_arena *arena,
			      const struct block *block, uint64_t *ret_chunk_bytes);

#endif
