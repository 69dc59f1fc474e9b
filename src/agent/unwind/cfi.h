/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi - how to get from a function to its caller according to its module's
 * .eh_frame: System V ABI for x86-64, and the Linux Standard Base for .eh_frame_hdr.
 *
 * No libc, no memory of its own. The tables are those that the program itself uses to
 * throw exceptions; entries that make no sense are ignored.
 */
#ifndef MS_AGENT_UNWIND_CFI_H
#define MS_AGENT_UNWIND_CFI_H

#include <stdbool.h>
#include <stdint.h>

/* Register numbers of DWARF. */
#define UNWIND_RBP 6
#define UNWIND_RSP 7
#define UNWIND_RIP 16

/* Mapped code and the address of its .eh_frame_hdr; 0: it has none. */
struct unwind_module {
	uint64_t start, end;
	uint64_t tables_addr;
	/*
	 * The segment with the tables, if it is outside of start to end: start to end is
	 * only the code if the file's segments have holes between them. 0, 0 otherwise.
	 */
	uint64_t tables_start, tables_end;
	/* the dynamic linker: code without rules is where the program started */
	bool is_loader;
};

enum unwind_rule_kind {
	RULE_SAME,	 /* the register is unchanged */
	RULE_OFFSET,	 /* saved at CFA + value; for the CFA: it is reg + value */
	RULE_VALUE,	 /* the register is CFA + value */
	RULE_AT,	 /* saved at the address that an expression yields */
	RULE_EXPRESSION, /* the register, or the CFA, is what an expression yields */
	RULE_UNDEFINED, /* cannot be recovered; for the return address: outermost frame */
};

struct unwind_rule {
	enum unwind_rule_kind kind;
	uint32_t reg;
	int64_t value;
	const uint8_t *expression; /* its length is in value */
};

struct unwind_rules {
	struct unwind_rule cfa, rbp, rip;
	/* a signal frame: the next frame was interrupted and has made no call */
	bool is_signal;
};

/*
 * Find the rules for an address. Return false if there are none, or if
 * they are not understood.
 */
bool unwind_rules_find(const struct unwind_module *module, uint64_t pc,
		       struct unwind_rules *ret);

struct unwind_state {
	uint64_t pc, sp, rbp;
};

/* Read a word of the stack. Return false if the address must not be touched. */
typedef bool unwind_read(void *context, uint64_t addr, uint64_t *ret);

/*
 * Replace *state by that of the caller. Return 1 on success, 0 if this is the outermost
 * frame, -1 if the caller cannot be determined; unless it returns 1, *state is unchanged.
 */
int unwind_rules_apply(const struct unwind_rules *rules, struct unwind_state *state,
		       unwind_read *read, void *context);

#endif
