/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bin - find the free list of glibc's malloc that contains a given free chunk. The
 * functions read a copy of the memory that the glibc walker has already checked.
 */
#ifndef MS_WALK_GLIBC_BIN_H
#define MS_WALK_GLIBC_BIN_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"

enum glibc_bin {
	GLIBC_BIN_UNKNOWN, /* the list cannot be determined */
	GLIBC_BIN_CACHE,   /* a list of a thread cache (tcache) */
	GLIBC_BIN_FAST,
	/* list of recently freed chunks, not yet sorted into bins */
	GLIBC_BIN_UNSORTED,
	GLIBC_BIN_SMALL,
	GLIBC_BIN_LARGE,
	GLIBC_BIN_COUNT_
};

/*
 * Return the list that contains a cached or free block. *ret_chunk_bytes is set to the
 * size of each chunk in the list, including the head, or to 0 if the sizes differ.
 */
enum glibc_bin glibc_bin_find(const struct blocks *blocks, const struct heap_arena *arena,
			      const struct block *block, uint64_t *ret_chunk_bytes);

#endif
