/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix - every resident byte of a process by owner and by kernel state. Plain data.
 *
 * Invariant, for a classified process (classify/ makes it true, tests hold it):
 *     sum of cells + unexplained = Rss,  and unexplained = 0 when the target stood still.
 * Cells are disjoint. LazyFree pages, which the kernel counts inside Private_Clean and
 * Shared_Clean, are taken out of those.
 */
#ifndef MS_MODEL_MATRIX_H
#define MS_MODEL_MATRIX_H

#include <stdint.h>

#include "base/units.h"

enum owner {
	OWNER_LIVE,
	OWNER_POOL_PAGES,
	OWNER_POOL_FRAGMENTS,
	OWNER_HEAP_META,
	OWNER_STACK,
	OWNER_ANON,
	OWNER_FILE,
	OWNER_SHMEM,
	OWNER_COUNT_
};

/* The owners that only a read of the heap can tell. */
#define OWNER_HEAP_FIRST OWNER_LIVE
#define OWNER_HEAP_LAST	 OWNER_HEAP_META

enum page_state {
	STATE_PRIVATE_DIRTY,
	STATE_LAZYFREE,
	STATE_PRIVATE_CLEAN,
	STATE_SHARED_DIRTY,
	STATE_SHARED_CLEAN,
	STATE_COUNT_
};

extern const char *const owner_names[OWNER_COUNT_];	 /* "live" … "shmem" */
extern const char *const page_state_names[STATE_COUNT_]; /* "private_dirty" … */

/*
 * Pages of several owners and states that cannot be told apart are in no cell, but in the
 * rest of their owners, and again in that of their states: the sums of both rests are the
 * same.
 */
struct matrix {
	uint64_t cell[OWNER_COUNT_][STATE_COUNT_]; /* bytes; BYTES_UNKNOWN if it cannot be told */
	/*
	 * Rss by owner: known where cells are not, as before Linux 4.12, which reports no
	 * LazyFree
	 */
	uint64_t owner_rss_bytes[OWNER_COUNT_];
	uint64_t owner_rest_bytes[OWNER_COUNT_];
	uint64_t state_rest_bytes[STATE_COUNT_];
};

void matrix_set_unknown(struct matrix *m);

/* Heap owners unknown, the others 0: what the classifier starts from. */
void matrix_set_no_heap(struct matrix *m);

/* A cell; unknown also where the rests of its owner and its state may be of it. */
uint64_t matrix_cell_bytes(const struct matrix *m, enum owner owner, enum page_state state);

/*
 * The sum of a row, a column, or all. Owners of which nothing is known are in another one
 * (the heap, not read, in anon) and add nothing; any other unknown cell makes the sums
 * that it is in unknown, but a row's is its owner_rss_bytes then.
 */
uint64_t matrix_owner_bytes(const struct matrix *m, enum owner owner);
uint64_t matrix_state_bytes(const struct matrix *m, enum page_state state);
uint64_t matrix_total_bytes(const struct matrix *m);

#endif
