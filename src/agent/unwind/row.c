/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/unwind/row.h"

#include <stddef.h>

#define ADDRESS_MIN 4096
/*
 * maximum length in bytes of a call instruction that is recognized, not counting prefixes
 */
#define CALL_MAX 7

/*
 * Return true if `bytes` is a multiple of 8 and fits into a signed number
 * with this many bits.
 */
static bool fits(int64_t bytes, unsigned int bits)
{
	int64_t limit = INT64_C(1) << (bits - 1);

	return (bytes & 7) == 0 && bytes >= -limit && bytes < limit;
}

static uint64_t make_row(enum unwind_row_kind kind, int64_t cfa, int64_t rbp)
{
	const uint64_t rbp_mask = (UINT64_C(1) << ROW_RBP_BITS) - 1;

	if (!fits(cfa, ROW_CFA_BITS) || !fits(rbp, ROW_RBP_BITS + 3))
		return ROW_RULES;
	return (uint64_t)cfa << (64 - ROW_CFA_BITS) |
	       ((uint64_t)(rbp / 8) & rbp_mask) << ROW_RBP_SHIFT | kind;
}

/*
 * Recognize the DWARF expression for "the word at rbp + N" or, unless is_read is set, for
 * "rbp + N". Compilers use these expressions for functions that align their stack. Return
 * false for any other expression.
 */
static bool is_word_at_rbp(const struct unwind_rule *rule, bool is_read, int64_t *ret)
{
	const uint8_t *e = rule->expression;
	const uint8_t op_breg_rbp = 0x70 + UNWIND_RBP, op_deref = 6;

	if (rule->value != 2 + is_read || e[0] != op_breg_rbp || e[1] & 0x80 ||
	    (is_read && e[2] != op_deref))
		return false;
	*ret = (int64_t)(e[1] & 0x3f) - (e[1] & 0x40);
	return true;
}

static uint64_t row_of_rules(const struct unwind_rules *rules)
{
	const struct unwind_rule *cfa = &rules->cfa, *rbp = &rules->rbp,
				 *rip = &rules->rip;
	int64_t at, saved;

	if (rules->is_signal)
		return ROW_SIGNAL;
	if (rip->kind == RULE_UNDEFINED)
		return ROW_END;
	if (rip->kind != RULE_OFFSET || rip->value != -8)
		return ROW_RULES;
	if (cfa->kind == RULE_EXPRESSION && rbp->kind == RULE_AT &&
	    is_word_at_rbp(cfa, true, &at) && is_word_at_rbp(rbp, false, &saved))
		return make_row(ROW_ALIGNED, at, saved);
	saved = rbp->kind == RULE_OFFSET ? rbp->value : 0;
	if (cfa->kind != RULE_OFFSET || (saved == 0 && rbp->kind != RULE_SAME) ||
	    (cfa->reg != UNWIND_RSP && cfa->reg != UNWIND_RBP))
		return ROW_RULES;
	return make_row(cfa->reg == UNWIND_RSP ? ROW_RSP : ROW_RBP, cfa->value, saved);
}

/*
 * Recognize the code of glibc's __restore_rt, which returns from a signal handler and has
 * no unwind tables: mov $15, %rax; syscall.
 */
static bool is_signal_return(uint64_t pc)
{
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

	for (size_t i = 0; i < sizeof(code); i++)
		if (((const uint8_t *)(uintptr_t)pc)[i] != code[i])
			return false;
	return true;
}

uint64_t unwind_rules_at(struct unwind_space *space, uint64_t lookup,
			 struct unwind_rules *ret)
{
	struct unwind_module module;

	if (lookup < ADDRESS_MIN || lookup >> 47 ||
	    !unwind_find(space, lookup, &module) || lookup < module.start ||
	    lookup >= module.end)
		return ROW_NONE;
	if (unwind_rules_find(&module, lookup, ret))
		return row_of_rules(ret);
	/*
	 * In the outermost frame of a stack created by makecontext(3) or similar code,
	 * the return address is the address of a function. No call instruction precedes
	 * this address.
	 */
	if (unwind_rules_find(&module, lookup + 1, ret))
		return ROW_END;
	if (module.is_loader)
		return ROW_END;
	return lookup + 16 < module.end && is_signal_return(lookup + 1) ? ROW_SIGNAL
									: ROW_CUT;
}

/*
 * Return true if these bytes are a call instruction whose target is in a register or in
 * memory.
 */
static bool is_indirect_call(const uint8_t *code, unsigned int length)
{
	const unsigned int mod = code[1] >> 6, rm = code[1] & 7;
	const unsigned int sib = rm == 4 && mod != 3;
	unsigned int wanted = 2 + sib;

	if (code[0] != 0xff || (code[1] & 0x38) != 0x10 || length < wanted)
		return false;
	if (mod == 1)
		wanted += 1;
	if (mod == 2 || (mod == 0 && (rm == 5 || (sib && (code[2] & 7) == 5))))
		wanted += 4;
	return length == wanted;
}

static bool is_after_call(const uint8_t *pc)
{
	const uint8_t call_relative = 0xe8;

	if (pc[-5] == call_relative)
		return true;
	for (unsigned int length = 2; length <= CALL_MAX; length++)
		if (is_indirect_call(pc - length, length))
			return true;
	return false;
}

static bool code_is_there(struct unwind_space *space, uint64_t pc)
{
	struct unwind_module module;

	if (ask_may(space->permission))
		return ask_can_read(pc - CALL_MAX) && ask_can_read(pc - 1);
	return unwind_find(space, pc - 1, &module) && pc - CALL_MAX >= module.start;
}

bool unwind_is_return(struct unwind_space *space, uint64_t pc)
{
	uint64_t *known = space->returns ? &space->returns[pc % UNWIND_RETURN_COUNT]
					 : NULL;

	if (pc < ADDRESS_MIN + CALL_MAX || pc >> 47)
		return false;
	if (known && __atomic_load_n(known, __ATOMIC_RELAXED) == pc)
		return true;
	if (!code_is_there(space, pc) || !is_after_call((const uint8_t *)(uintptr_t)pc))
		return false;
	if (known)
		__atomic_store_n(known, pc, __ATOMIC_RELAXED);
	return true;
}

/*
 * Store a row (the unwind rules of an address) in the first cache element for its
 * address. The previous row of this element moves to an empty element of the same cache
 * line. If all elements of the line are in use, the previous row replaces another row.
 */
static void put_row(struct unwind_row *line, uint64_t row, uint64_t lookup)
{
	uint64_t first = row_index(lookup) % ROW_WAYS, other = lookup % (ROW_WAYS - 1);
	uint64_t before = __atomic_load_n(&line[first].row, __ATOMIC_RELAXED);

	other += other >= first;
	for (uint64_t i = 0; i < ROW_WAYS; i++)
		if (i != first && !__atomic_load_n(&line[i].row, __ATOMIC_RELAXED))
			other = i;
	if (before)
		__atomic_store_n(&line[other].row, before, __ATOMIC_RELAXED);
	__atomic_store_n(&line[first].row, row | lookup >> ROW_LINE_BITS << ROW_LINE_BITS,
			 __ATOMIC_RELAXED);
}

/*
 * Clear the cache line if unwind_forget() was called in the meantime, because the row
 * just stored may describe code that has been unmapped.
 */
static void drop_if_forgotten(struct unwind_space *space, struct unwind_row *line,
			      uint32_t forgotten)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&space->generation, __ATOMIC_RELAXED) == forgotten)
		return;
	for (unsigned int i = 0; i < ROW_WAYS; i++)
		__atomic_store_n(&line[i].row, 0, __ATOMIC_RELAXED);
}

uint64_t unwind_find_row(struct unwind_space *space, uint64_t lookup)
{
	uint32_t forgotten = __atomic_load_n(&space->forgotten, __ATOMIC_ACQUIRE);
	struct unwind_row *line = &space->rows[row_index(lookup) / ROW_WAYS * ROW_WAYS];
	struct unwind_rules rules;
	uint64_t row;

	for (unsigned int i = 0; i < ROW_WAYS; i++) {
		row = __atomic_load_n(&line[i].row, __ATOMIC_RELAXED);
		if (row_is_of(row, lookup))
			return row;
	}
	row = unwind_rules_at(space, lookup, &rules);
	/*
	 * do not cache a result for an address without code, because code may be mapped
	 * there later
	 */
	if (row == ROW_NONE)
		return ROW_CUT;
	put_row(line, row, lookup);
	drop_if_forgotten(space, line, forgotten);
	return row;
}
