/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * row - a cache of the unwind rules for code addresses, each reduced to a row of 8 bytes.
 */
#ifndef MS_AGENT_UNWIND_ROW_H
#define MS_AGENT_UNWIND_ROW_H

#include "agent/unwind/unwind.h"

/*
 * Format of a row, which describes the unwind rules of a code address. The low 3 bits are
 * the row's kind. The next 9 bits are the offset of the saved rbp from the CFA, in words
 * of 8 bytes. In the cache, the code address without its low 12 bits follows; the row's
 * cache line implies the low 12 bits. The top 17 bits are the offset of the CFA from a
 * register. A row is stored in a single write, so that no thread sees a half-written row.
 */
#define ROW_RBP_SHIFT 3
#define ROW_RBP_BITS 9
#define ROW_CFA_BITS 17
#define ROW_LINE_BITS 12
#define ROW_WAYS 8
_Static_assert(UNWIND_ROW_COUNT == ROW_WAYS << ROW_LINE_BITS, "lines of the cache");

enum unwind_row_kind {
	ROW_NONE,
	ROW_RSP, /* the CFA is at an offset from rsp */
	ROW_RBP, /* the CFA is at an offset from rbp */
	/* the CFA is stored at an offset from rbp, and so is the caller's rbp */
	ROW_ALIGNED,
	ROW_END,   /* the frame of this function is the outermost one */
	ROW_RULES, /* any other rules, which must be read from the unwind tables again */
	/* the frame of a signal handler: a signal interrupted the next frame */
	ROW_SIGNAL,
	/* the code has no unwind rules, but the function may have a frame pointer */
	ROW_CUT,
};

static inline unsigned int row_kind(uint64_t row)
{
	return row & 7;
}

static inline int32_t row_rbp(uint64_t row)
{
	const int above = 32 - ROW_RBP_SHIFT - ROW_RBP_BITS;

	return ((int32_t)((uint32_t)row << above) >> above) & -8;
}

static inline int64_t row_cfa(uint64_t row)
{
	return (int64_t)row >> (64 - ROW_CFA_BITS);
}

/*
 * Find the unwind rules of the function that contains the address `lookup`. Return the
 * rules as a row, ROW_NONE if there is no known code at the address, or ROW_CUT if the
 * code has no rules.
 */
uint64_t unwind_rules_at(struct unwind_space *space, uint64_t lookup,
			 struct unwind_rules *ret);

/*
 * Return true if the memory right before pc is readable and contains a call instruction
 * that ends at pc.
 */
bool unwind_is_return(struct unwind_space *space, uint64_t pc);

/*
 * Like row_at(), for an address whose row is not in the first element of its cache line.
 */
uint64_t unwind_find_row(struct unwind_space *space, uint64_t lookup);

/*
 * Return the index of the first cache element that an address may use. Addresses with the
 * same cache line differ in the bits above the low 12, which are stored in the row. The
 * line and the stored bits determine the low 12 bits.
 */
static inline uint64_t row_index(uint64_t lookup)
{
	return (lookup * ROW_WAYS ^ lookup >> 9) & (UNWIND_ROW_COUNT - 1);
}

/*
 * Return true if the row is for the address `lookup`. Comparing bits 12 to 46 suffices,
 * because no code has a higher address.
 */
static inline bool row_is_of(uint64_t row, uint64_t lookup)
{
	const uint64_t mask = (UINT64_C(1) << (64 - ROW_CFA_BITS)) - (1 << ROW_LINE_BITS);

	return ((row ^ lookup) & mask) == 0;
}

/*
 * Return the row (unwind rules) of the function that contains the address `lookup`. An
 * empty cache element also matches addresses in the first page or above all code. The
 * result ROW_NONE is then correct, because there are no rules for these addresses.
 */
static inline uint64_t row_at(struct unwind_space *space, uint64_t lookup)
{
	uint64_t row =
		__atomic_load_n(&space->rows[row_index(lookup)].row, __ATOMIC_RELAXED);

	if (__builtin_expect(row_is_of(row, lookup), 1))
		return row;
	return unwind_find_row(space, lookup);
}

#endif
