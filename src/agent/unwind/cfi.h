/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi - find a function's caller with the .eh_frame section of the function's module
 * (System V ABI for x86-64; Linux Standard Base for .eh_frame_hdr).
 *
 * The code uses no libc and allocates no memory. The program itself uses the same tables
 * when it throws exceptions. Invalid entries are ignored.
 */
#ifndef MS_AGENT_UNWIND_CFI_H
#define MS_AGENT_UNWIND_CFI_H

#include <stdbool.h>
#include <stdint.h>

/* Register numbers of DWARF for x86-64. */
#define UNWIND_RBP 6
#define UNWIND_RSP 7
#define UNWIND_RIP 16

/* A range of mapped code, and the address of its .eh_frame_hdr, or 0 if it has none. */
struct unwind_module {
	uint64_t start, end;
	uint64_t tables_addr;
	/*
	 * The segment that contains the unwind tables if it is outside the range from
	 * start to end; otherwise both members are 0. If there are gaps between the
	 * file's segments, the range from start to end covers only the code.
	 */
	uint64_t tables_start, tables_end;
	/*
	 * true if the module is the dynamic linker, in which a function without unwind
	 * rules is the start of the program
	 */
	bool is_loader;
};

enum unwind_rule_kind {
	/* the register has the same value in the caller's frame as in this frame */
	RULE_SAME,
	/*
	 * the caller's register was saved at CFA + value; in a rule for the CFA: the CFA
	 * is reg + value
	 */
	RULE_OFFSET,
	RULE_VALUE, /* the value of the caller's register is CFA + value */
	/*
	 * the caller's register was saved at the address to which the expression
	 * evaluates
	 */
	RULE_AT,
	/*
	 * the caller's register, or the CFA, is the value to which the expression
	 * evaluates
	 */
	RULE_EXPRESSION,
	/*
	 * the caller's register is lost; in a rule for the return address: this is the
	 * outermost frame
	 */
	RULE_UNDEFINED,
};

struct unwind_rule {
	enum unwind_rule_kind kind;
	uint32_t reg;
	int64_t value;
	/* a DWARF expression, whose length in bytes is `value` */
	const uint8_t *expression;
};

struct unwind_rules {
	struct unwind_rule cfa, rbp, rip;
	/*
	 * true for a signal frame, the code to which a signal handler returns: the next
	 * frame was interrupted by the signal, and did not make a call
	 */
	bool is_signal;
};

/*
 * Find the unwind rules for the code at pc. Return false if there are no rules, or if
 * they are unsupported.
 */
bool unwind_rules_find(const struct unwind_module *module, uint64_t pc,
		       struct unwind_rules *ret);

struct unwind_state {
	uint64_t pc, sp, rbp;
};

/*
 * Callback that reads a word of the stack. It returns false if the address must not be
 * read.
 */
typedef bool unwind_read(void *context, uint64_t addr, uint64_t *ret);

/*
 * Replace *state with the caller's registers, and return 1. If this is the outermost
 * frame, return 0; if the caller cannot be determined, return -1. In both cases *state is
 * unchanged.
 */
int unwind_rules_apply(const struct unwind_rules *rules, struct unwind_state *state,
		       unwind_read *read, void *context);

#endif
