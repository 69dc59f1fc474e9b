/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86_code - the length of x86-64 instructions, and the targets of their branches. Pure.
 * The input is foreign, and may not be code at all.
 */
#ifndef MS_PROBE_BORROW_X86_CODE_H
#define MS_PROBE_BORROW_X86_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An instruction; offsets are from its start. */
struct x86_instruction {
	size_t length;
	size_t opcode_offset; /* offset of the last opcode byte, if there are several */
	uint8_t rex;	      /* 0: no REX prefix */
	unsigned int map; /* opcode map: 0; 1 after 0f; 2 after 0f 38; 3 after 0f 3a */
	bool has_prefix;  /* a prefix other than REX, or VEX or EVEX */
	bool has_modrm;	  /* a ModRM byte follows the opcode */
	size_t immediate_bytes; /* size of the immediate at the end */
};

/*
 * Decode the instruction at code; at most left bytes are read. Return false if it
 * is unknown or incomplete.
 */
bool x86_decode(const uint8_t *code, size_t left, struct x86_instruction *ret);

enum x86_branch_kind {
	X86_CALL,
	X86_JUMP,
	X86_JUMP_IF
};

/*
 * A call or a jump that contains its target, or, if it is_indirect, the address of the
 * word with the target ("call *slot(%rip)").
 */
struct x86_branch {
	enum x86_branch_kind kind;
	uint8_t condition; /* condition of X86_JUMP_IF: the low four bits of its opcode */
	bool is_indirect;
	size_t length;
	int64_t distance_bytes; /* from its end */
};

/* Decode a branch. Return false if there is none. */
bool x86_branch_read(const uint8_t *code, size_t left, struct x86_branch *ret);

/*
 * Find the first branch at or after *at, which must be the start of an instruction, and
 * set *at to it. Return false if an unknown instruction or the end comes first.
 */
bool x86_branch_next(const uint8_t *code, size_t length, size_t *at,
		     struct x86_branch *ret);

#endif
