/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86_code - how long the instructions of x86-64 are, and where those of a function lead.
 * Pure; code is foreign, and may be none.
 */
#ifndef MS_PROBE_X86_CODE_H
#define MS_PROBE_X86_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One instruction; offsets are from its start. */
struct x86_instruction {
	size_t length;
	size_t opcode_offset; /* of its last byte, where there are several */
	uint8_t rex;	      /* 0: none */
	unsigned int map;     /* of opcodes: 0; 1 behind 0f; 2 behind 0f 38; 3 behind 0f 3a */
	bool has_prefix;      /* another than REX, or is VEX or EVEX */
	bool has_modrm;	      /* behind the opcode */
	size_t immediate_bytes; /* at its end */
};

/* False if these bytes, of which there are `left`, begin with none that is known, or whole. */
bool x86_decode(const uint8_t *code, size_t left, struct x86_instruction *ret);

enum x86_branch_kind { X86_CALL, X86_JUMP, X86_JUMP_IF };

/*
 * A call or a jump that has in it where it leads to, or, if it is_indirect, where that is kept
 * ("call *slot(%rip)").
 */
struct x86_branch {
	enum x86_branch_kind kind;
	uint8_t condition; /* of X86_JUMP_IF: the low bits of its opcode */
	bool is_indirect;
	size_t length;
	int64_t distance_bytes; /* from its end */
};

/* False if there is none. */
bool x86_branch_read(const uint8_t *code, size_t left, struct x86_branch *ret);

/*
 * The first one from *at on, which is the start of an instruction; *at is then where it is. False
 * if there is none up to what is no instruction.
 */
bool x86_branch_next(const uint8_t *code, size_t length, size_t *at, struct x86_branch *ret);

#endif
