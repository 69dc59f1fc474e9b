/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_row - what unwind needs of the rules at an address, in 8 bytes, and found again
 * without them.
 */
#ifndef MS_AGENT_UNWIND_ROW_H
#define MS_AGENT_UNWIND_ROW_H

#include "agent/unwind.h"

/*
 * The kind in the low 3 bits, then 9 for where rbp is from the CFA, in words of 8 bytes;
 * then, where it is kept, the address but for its low 12 bits, which its line has, and 17
 * of 64; there, at the top, is the CFA from a register. It is written in one go, so that no
 * thread sees half of it.
 */
#define ROW_RBP_SHIFT 3
#define ROW_RBP_BITS  9
#define ROW_CFA_BITS  17
#define ROW_LINE_BITS 12
#define ROW_WAYS      8
_Static_assert(UNWIND_ROW_COUNT == ROW_WAYS << ROW_LINE_BITS, "lines of the cache");

enum unwind_row_kind {
	ROW_NONE,
	ROW_RSP,     /* the CFA is told from rsp… */
	ROW_RBP,     /* …and from rbp */
	ROW_ALIGNED, /* is a word told from rbp, and rbp was saved where that is told from rbp */
	ROW_END,     /* nobody called */
	ROW_RULES,   /* anything else */
	ROW_SIGNAL,  /* was interrupted */
	ROW_CUT,     /* has no rules: perhaps it has a frame pointer */
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

/* A function's rules; the row, or ROW_NONE: no code is known there, or ROW_CUT: no rules. */
uint64_t unwind_rules_at(struct unwind_space *space, uint64_t lookup, struct unwind_rules *ret);

/* Whether a call instruction is right before pc, as far as memory there can be read. */
bool unwind_is_return(struct unwind_space *space, uint64_t pc);

/* As below, where it is not at its first place. */
uint64_t unwind_find_row(struct unwind_space *space, uint64_t lookup);

/*
 * The first place of an address. With the others that are in the same line it is told by
 * the low bits and those above: of two that share a line, these are not the same.
 */
static inline uint64_t row_index(uint64_t lookup)
{
	return (lookup * ROW_WAYS ^ lookup >> 9) & (UNWIND_ROW_COUNT - 1);
}

/* Of 47 bits of the address: nothing returns to where there are more. */
static inline bool row_is_of(uint64_t row, uint64_t lookup)
{
	const uint64_t mask = (UINT64_C(1) << (64 - ROW_CFA_BITS)) - (1 << ROW_LINE_BITS);

	return ((row ^ lookup) & mask) == 0;
}

/*
 * Of the function that has the address lookup. ROW_NONE only where there is no code, below
 * all or beyond, where an empty place is taken for one: there are no rules there either.
 */
static inline uint64_t row_at(struct unwind_space *space, uint64_t lookup)
{
	uint64_t row = __atomic_load_n(&space->rows[row_index(lookup)].row, __ATOMIC_RELAXED);

	if (__builtin_expect(row_is_of(row, lookup), 1))
		return row;
	return unwind_find_row(space, lookup);
}

#endif
