/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix - the resident memory of a process by owner (live blocks, stacks, files, …) and
 * by kernel state. Plain data.
 *
 * Invariant of a classified process, which classify/ establishes and tests verify:
 *    sum of cells + unexplained = Rss,  with unexplained = 0 if the target was stopped.
 * No page is in two cells. The kernel counts LazyFree pages also in Private_Clean and
 * Shared_Clean; the matrix subtracts them there.
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

/* The first and the last of the owners whose amounts only a heap read can determine. */
#define OWNER_HEAP_FIRST OWNER_LIVE
#define OWNER_HEAP_LAST OWNER_HEAP_META

enum page_state {
	STATE_PRIVATE_DIRTY,
	STATE_LAZYFREE,
	STATE_PRIVATE_CLEAN,
	STATE_SHARED_DIRTY,
	STATE_SHARED_CLEAN,
	STATE_COUNT_
};

/* names of the owners: "live", …, "shmem" */
extern const char *const owner_names[OWNER_COUNT_];
/* names of the states: "private_dirty", …, "shared_clean" */
extern const char *const page_state_names[STATE_COUNT_];

/*
 * The resident memory of one process. Pages whose owner or state is uncertain are in no
 * cell. They are counted in the remainder of their owner and in the remainder of their
 * state, so both remainders have the same sum.
 */
struct matrix {
	/* BYTES_UNKNOWN if the cell cannot be determined. */
	uint64_t cell[OWNER_COUNT_][STATE_COUNT_];
	/*
	 * Rss of each owner. This sum may be known even if the cells are unknown: before
	 * Linux 4.12, the kernel does not report LazyFree.
	 */
	uint64_t owner_rss_bytes[OWNER_COUNT_];
	uint64_t owner_remainder_bytes[OWNER_COUNT_];
	uint64_t state_remainder_bytes[STATE_COUNT_];
};

void matrix_set_unknown(struct matrix *m);

/*
 * Set the owners up to OWNER_HEAP_LAST to unknown, and all other owners to 0. Call this
 * before mappings are classified.
 */
void matrix_set_no_heap(struct matrix *m);

/*
 * Return the amount in a cell. Return BYTES_UNKNOWN if the cell is unknown, or if both
 * its owner and its state have a remainder. Pages of the remainders may belong in the
 * cell.
 */
uint64_t matrix_cell_bytes(const struct matrix *m, enum owner owner,
			   enum page_state state);

/*
 * Return the sum of a row, a column, or all cells. An owner without any known amount
 * counts as 0, because its memory is then part of another owner: an unread heap is part
 * of OWNER_ANON. Any other unknown cell makes a sum unknown, except that
 * matrix_owner_bytes() then returns owner_rss_bytes.
 */
uint64_t matrix_owner_bytes(const struct matrix *m, enum owner owner);
uint64_t matrix_state_bytes(const struct matrix *m, enum page_state state);
uint64_t matrix_total_bytes(const struct matrix *m);

/*
 * Return the state that all pages are in, or STATE_COUNT_ if the pages are in several
 * states.
 */
enum page_state matrix_only_state(const uint64_t states[STATE_COUNT_]);

#endif
