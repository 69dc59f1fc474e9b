/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_row - what unwind needs of the rules at an address, in 8 bytes, and found again
 * without them.
 */
#ifndef MS_AGENT_UNWIND_ROW_H
#define MS_AGENT_UNWIND_ROW_H

#include "agent/unwind.h"

/*
 * The kind in the low 4 bits, then 28 for where rbp is from the CFA, then 32 for the CFA
 * from a register.
 */
enum unwind_row_kind {
	ROW_NONE,
	ROW_RSP,     /* the CFA is told from rsp… */
	ROW_RBP,     /* …and from rbp */
	ROW_ALIGNED, /* is a word told from rbp, and rbp was saved where that is told from rbp */
	ROW_END,     /* nobody called */
	ROW_RULES,   /* anything else */
	ROW_SIGNAL,  /* was interrupted */
	ROW_CUT,     /* there is no telling */
};

static inline unsigned int row_kind(uint64_t row)
{
	return row & 15;
}

static inline int32_t row_rbp(uint64_t row)
{
	return (int32_t)(uint32_t)row >> 4;
}

static inline int64_t row_cfa(uint64_t row)
{
	return (int64_t)row >> 32;
}

/* A function's rules; the row, or ROW_NONE: no code is known there, or ROW_CUT: no rules. */
uint64_t unwind_rules_at(struct unwind_space *space, uint64_t lookup, struct unwind_rules *ret);

/* As below, where it is not at its first place. */
uint64_t unwind_find_row(struct unwind_space *space, uint64_t lookup);

static inline struct unwind_row *row_place(const struct unwind_space *space, uint64_t lookup)
{
	return &space->rows[(lookup ^ lookup >> UNWIND_ROW_BITS) & (UNWIND_ROW_COUNT - 1)];
}

/* Returns ROW_NONE if it is not there. */
static inline uint64_t row_get(const struct unwind_row *place, uint64_t lookup)
{
	uint64_t row = __atomic_load_n(&place->row, __ATOMIC_RELAXED);

	if (__builtin_expect((__atomic_load_n(&place->key, __ATOMIC_RELAXED) ^ row) == lookup, 1))
		return row;
	return ROW_NONE;
}

/* Of the function that has the address lookup; never ROW_NONE. */
static inline uint64_t row_at(struct unwind_space *space, uint64_t lookup)
{
	uint64_t row = row_get(row_place(space, lookup), lookup);

	return __builtin_expect(row != ROW_NONE, 1) ? row : unwind_find_row(space, lookup);
}

#endif
