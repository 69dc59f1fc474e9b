/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glibc_bin - which of the lists of glibc's malloc a free chunk is in, for one chunk at a
 * time: told from the copy that the walk has checked.
 */
#ifndef MS_WALK_GLIBC_BIN_H
#define MS_WALK_GLIBC_BIN_H

#include "model/heap.h"
#include "walk/blocks.h"

enum glibc_bin {
	GLIBC_BIN_UNKNOWN, /* in one of an arena's, which was not found out */
	GLIBC_BIN_CACHE,   /* a thread's: tcache */
	GLIBC_BIN_FAST,
	GLIBC_BIN_UNSORTED, /* freed since memory was last looked for among the others */
	GLIBC_BIN_SMALL,
	GLIBC_BIN_LARGE,
	GLIBC_BIN_COUNT_
};

/*
 * Of a block of a chain that is cached or free. *ret_chunk_bytes: the size of all chunks
 * in it, heads included; 0 where it has several sizes.
 */
enum glibc_bin glibc_bin_find(const struct blocks *blocks, const struct heap_arena *arena,
			      const struct block *block, uint64_t *ret_chunk_bytes);

#endif
