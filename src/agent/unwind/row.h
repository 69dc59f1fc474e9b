/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unwind_row - a cache of the unwind rules at an address, reduced to 8 bytes. */
#ifndef MS_AGENT_UNWIND_ROW_H
#define MS_AGENT_UNWIND_ROW_H

#include "agent/unwind/unwind.h"

/*
 * A row holds the kind in the low 3 bits. The next 9 bits are the offset of the saved rbp
 * from the CFA, in words of 8 bytes. In the cache the address follows, without its low 12
 * bits, which its line implies. The top 17 bits are the offset of the CFA from a
 * register. A row is written in a single store, so that no thread sees half of it.
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
	/* the CFA is a word at an offset from rbp; rbp was saved at an offset from rbp */
	ROW_ALIGNED,
	ROW_END,    /* outermost frame */
	ROW_RULES,  /* anything else: the full rules are needed */
	ROW_SIGNAL, /* the next frame was interrupted by a signal */
	ROW_CUT,    /* no rules: perhaps there is a frame pointer */
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
 * Find the rules of the function at lookup. Return their row; ROW_NONE if no code is
 * known there, or ROW_CUT if there are no rules.
 */
uint64_t unwind_rules_at(struct unwind_space *space, uint64_t lookup,
			 struct unwind_rules *ret);

/*
 * Return whether a call instruction ends right before pc, if the
 * memory there is readable.
 */
bool unwind_is_return(struct unwind_space *space, uint64_t pc);

/* Like row_at(), for an address whose row is not in its first place. */
uint64_t unwind_find_row(struct unwind_space *space, uint64_t lookup);

/*
 * Return the first place of an address. Two addresses that share a line differ
 * in the bits above the low 12, which the row stores; the line and these bits
 * determine the low bits.
 */
static inline uint64_t row_index(uint64_t lookup)
{
	return (lookup * ROW_WAYS ^ lookup >> 9) & (UNWIND_ROW_COUNT - 1);
}

/*
 * Return whether the row belongs to lookup. Only bits 12 to 46 are compared: no
 * code has an address above.
 */
static inline bool row_is_of(uint64_t row, uint64_t lookup)
{
	const uint64_t mask = (UINT64_C(1) << (64 - ROW_CFA_BITS)) - (1 << ROW_LINE_BITS);

	return ((row ^ lookup) & mask) == 0;
}

/*
 * Return the row of the function at lookup. An empty place matches an address in
 * the first page or above all code. The result is then ROW_NONE, as if cached:
 * there are no rules there either.
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
