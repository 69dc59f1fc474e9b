/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_cfi - how to get from a function to who called it, as its module's .eh_frame
 * says: System V ABI for x86-64, and the Linux Standard Base on .eh_frame_hdr.
 *
 * No libc, no memory of its own. Tables are those that the program itself would use to
 * throw; what makes no sense in them is as if it were not there.
 */
#ifndef MS_AGENT_UNWIND_CFI_H
#define MS_AGENT_UNWIND_CFI_H

#include <stdbool.h>
#include <stdint.h>

/* As DWARF numbers them. */
#define UNWIND_RBP 6
#define UNWIND_RSP 7
#define UNWIND_RIP 16

/* Code that is mapped, and the address of its .eh_frame_hdr; 0: it has none. */
struct unwind_module {
	uint64_t start, end;
	uint64_t tables_addr;
	/*
	 * The segment that holds the tables, if it is not part of start to end: in a file
	 * whose segments have holes between them that is only the code. 0, 0 otherwise.
	 */
	uint64_t tables_start, tables_end;
	bool is_loader; /* what has no rules in it is where the program began */
};

enum unwind_rule_kind {
	RULE_SAME,	/* the register is as it was */
	RULE_OFFSET,	/* is saved at the CFA plus value; of the CFA: is reg plus value */
	RULE_VALUE,	/* is the CFA plus value */
	RULE_AT,	/* is saved where an expression says; of the CFA: is what that says */
	RULE_EXPRESSION, /* is what an expression says */
	RULE_UNDEFINED, /* cannot be known; of the return address: nobody called */
};

struct unwind_rule {
	enum unwind_rule_kind kind;
	uint32_t reg;
	int64_t value;
	const uint8_t *expression; /* and its length in value */
};

struct unwind_rules {
	struct unwind_rule cfa, rbp, rip;
	bool is_signal; /* what was interrupted, not what called */
};

/* Returns false if there are none for that address, or none that are understood. */
bool unwind_rules_find(const struct unwind_module *module, uint64_t pc,
		       struct unwind_rules *ret);

struct unwind_state {
	uint64_t pc, sp, rbp;
};

/*
 * Reads a word of the stack; false: it must not be touched.
 */
typedef bool unwind_read(void *context, uint64_t addr, uint64_t *ret);

/*
 * What called. Returns 1; 0: nobody, it is the outermost; -1: it cannot be known.
 * *state is untouched then.
 */
int unwind_rules_apply(const struct unwind_rules *rules, struct unwind_state *state,
		       unwind_read *read, void *context);

#endif
