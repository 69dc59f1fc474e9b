/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86_code - determine the length of x86-64 instructions, and the targets of branches.
 * The functions have no side effects. The input comes from other processes, and may not
 * be code at all.
 */
#ifndef MS_PROBE_BORROW_X86_CODE_H
#define MS_PROBE_BORROW_X86_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A decoded instruction. All offsets are relative to its start. */
struct x86_instruction {
	size_t length;
	size_t opcode_offset; /* offset of the last byte of the opcode */
	uint8_t rex;	      /* the REX prefix, or 0 if there is no such prefix */
	/* opcode map: 0 for one-byte opcodes; 1 after 0f; 2 after 0f 38; 3 after 0f 3a */
	unsigned int map;
	/*
	 * true if the instruction has a prefix other than REX, or a VEX or EVEX prefix
	 */
	bool has_prefix;
	bool has_modrm;		/* true if a ModRM byte follows the opcode */
	size_t immediate_bytes; /* size of the immediate at the end of the instruction */
};

/*
 * Decode the instruction at `code`, reading at most `left` bytes. Return false if the
 * instruction is unknown or incomplete.
 */
bool x86_decode(const uint8_t *code, size_t left, struct x86_instruction *ret);

enum x86_branch_kind {
	X86_CALL,
	X86_JUMP,
	X86_JUMP_IF
};

/*
 * A call or jump. If is_indirect is true, the instruction contains the address of a word
 * that holds the target, as in "call *slot(%rip)", instead of the target itself.
 */
struct x86_branch {
	enum x86_branch_kind kind;
	/* the condition of a conditional jump: the low four bits of its opcode */
	uint8_t condition;
	bool is_indirect;
	size_t length;
	/* distance of the target from the end of the instruction */
	int64_t distance_bytes;
};

/* Decode a call or jump. Return false if the instruction is neither. */
bool x86_branch_read(const uint8_t *code, size_t left, struct x86_branch *ret);

/*
 * Find the first call or jump at or after offset *at, and set *at to its offset. *at
 * must be the start of an instruction. Return false if there is no call or jump before
 * the end of the code or before an unknown instruction.
 */
bool x86_branch_next(const uint8_t *code, size_t length, size_t *at,
		     struct x86_branch *ret);

#endif
