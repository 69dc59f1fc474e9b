/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/x86_code.h"

/*
 * The components that may follow an instruction's opcode (Intel SDM
 * volume 2, appendix A).
 */
enum {
	MODRM = 1 << 0,
	BYTE = 1 << 1, /* an immediate of 1 byte */
	WORD = 1 << 2, /* an immediate of 2 bytes */
	LONG = 1 << 3, /* an immediate of 4 bytes, or of 2 bytes after prefix 66 */
	/* a branch displacement of 4 bytes, regardless of prefixes */
	LONG_ALWAYS = 1 << 4,
	/* an immediate of 4 bytes, of 8 with REX.W, or of 2 after prefix 66 */
	QUAD = 1 << 5,
	ADDRESS = 1 << 6, /* an address of 8 bytes, or of 4 after prefix 67 */
	/* an immediate that is present only if the reg field of ModRM is 0 or 1 */
	TEST = 1 << 7,
	/*
	 * an opcode that is invalid in 64-bit mode, or a prefix, which is
	 * decoded before the opcode
	 */
	NONE = 1 << 8,
};

struct opcodes {
	uint8_t first, last;
	uint16_t has;
};

/*
 * Tables of opcode ranges. If several elements match an opcode, the last one applies. If
 * none matches, neither ModRM nor an immediate follows the opcode.
 */
static const struct opcodes map_0[] = {
	{ 0x00, 0x3f, MODRM },	      { 0x04, 0x04, BYTE },
	{ 0x0c, 0x0c, BYTE },	      { 0x14, 0x14, BYTE },
	{ 0x1c, 0x1c, BYTE },	      { 0x24, 0x24, BYTE },
	{ 0x2c, 0x2c, BYTE },	      { 0x34, 0x34, BYTE },
	{ 0x3c, 0x3c, BYTE },	      { 0x05, 0x05, LONG },
	{ 0x0d, 0x0d, LONG },	      { 0x15, 0x15, LONG },
	{ 0x1d, 0x1d, LONG },	      { 0x25, 0x25, LONG },
	{ 0x2d, 0x2d, LONG },	      { 0x35, 0x35, LONG },
	{ 0x3d, 0x3d, LONG },	      { 0x06, 0x07, NONE },
	{ 0x0e, 0x0e, NONE },	      { 0x16, 0x17, NONE },
	{ 0x1e, 0x1f, NONE },	      { 0x26, 0x27, NONE },
	{ 0x2e, 0x2f, NONE },	      { 0x36, 0x37, NONE },
	{ 0x3e, 0x3f, NONE },	      { 0x60, 0x62, NONE },
	{ 0x63, 0x63, MODRM },	      { 0x68, 0x68, LONG },
	{ 0x69, 0x69, MODRM | LONG }, { 0x6a, 0x6a, BYTE },
	{ 0x6b, 0x6b, MODRM | BYTE }, { 0x70, 0x7f, BYTE },
	{ 0x80, 0x83, MODRM | BYTE }, { 0x81, 0x81, MODRM | LONG },
	{ 0x82, 0x82, NONE },	      { 0x84, 0x8f, MODRM },
	{ 0x9a, 0x9a, NONE },	      { 0xa0, 0xa3, ADDRESS },
	{ 0xa8, 0xa8, BYTE },	      { 0xa9, 0xa9, LONG },
	{ 0xb0, 0xb7, BYTE },	      { 0xb8, 0xbf, QUAD },
	{ 0xc0, 0xc1, MODRM | BYTE }, { 0xc2, 0xc2, WORD },
	{ 0xc4, 0xc5, NONE },	      { 0xc6, 0xc6, MODRM | BYTE },
	{ 0xc7, 0xc7, MODRM | LONG }, { 0xc8, 0xc8, WORD | BYTE },
	{ 0xca, 0xca, WORD },	      { 0xcd, 0xcd, BYTE },
	{ 0xce, 0xce, NONE },	      { 0xd0, 0xd3, MODRM },
	{ 0xd4, 0xd6, NONE },	      { 0xd8, 0xdf, MODRM },
	{ 0xe0, 0xe7, BYTE },	      { 0xe8, 0xe9, LONG_ALWAYS },
	{ 0xea, 0xea, NONE },	      { 0xeb, 0xeb, BYTE },
	{ 0xf6, 0xf7, MODRM | TEST }, { 0xfe, 0xff, MODRM },
};

static const struct opcodes map_1[] = {
	{ 0x00, 0xff, MODRM },
	{ 0x04, 0x09, 0 },
	{ 0x04, 0x04, NONE },
	{ 0x0a, 0x0a, NONE },
	{ 0x0b, 0x0b, 0 },
	{ 0x0c, 0x0c, NONE },
	{ 0x0e, 0x0e, 0 },
	{ 0x0f, 0x0f, MODRM | BYTE },
	{ 0x24, 0x27, NONE },
	{ 0x30, 0x37, 0 },
	{ 0x38, 0x3f, NONE },
	{ 0x70, 0x73, MODRM | BYTE },
	{ 0x77, 0x77, 0 },
	{ 0x80, 0x8f, LONG_ALWAYS },
	{ 0xa0, 0xa2, 0 },
	{ 0xa4, 0xa4, MODRM | BYTE },
	{ 0xa6, 0xa7, NONE },
	{ 0xa8, 0xaa, 0 },
	{ 0xac, 0xac, MODRM | BYTE },
	{ 0xba, 0xba, MODRM | BYTE },
	{ 0xc2, 0xc2, MODRM | BYTE },
	{ 0xc4, 0xc6, MODRM | BYTE },
	{ 0xc8, 0xcf, 0 },
};

static const struct opcodes map_2[] = { { 0x00, 0xff, MODRM } };
static const struct opcodes map_3[] = { { 0x00, 0xff, MODRM | BYTE } };

#define MAP(rows)                                      \
	{                                              \
		rows, sizeof(rows) / sizeof((rows)[0]) \
	}

static const struct {
	const struct opcodes *rows;
	size_t count;
} maps[] = { MAP(map_0), MAP(map_1), MAP(map_2), MAP(map_3) };

static unsigned int find(unsigned int map, uint8_t opcode)
{
	unsigned int has = 0;

	for (size_t i = 0; i < maps[map].count; i++)
		if (opcode >= maps[map].rows[i].first && opcode <= maps[map].rows[i].last)
			has = maps[map].rows[i].has;
	return has;
}

struct prefixes {
	bool has_operand_size, has_address_size;
};

static bool is_prefix(uint8_t byte)
{
	static const uint8_t prefixes[] = { 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
					    0x66, 0x67, 0xf0, 0xf2, 0xf3 };

	for (size_t i = 0; i < sizeof(prefixes); i++)
		if (prefixes[i] == byte)
			return true;
	return false;
}

/*
 * Read a VEX or EVEX prefix. Outside 64-bit mode, its first byte can be an ordinary
 * opcode. Return the prefix's length and the opcode map that it selects, or 0 if there
 * is no such prefix.
 */
static size_t read_vex(const uint8_t *at, size_t left, unsigned int *ret_map,
		       uint8_t *ret_rex)
{
	if (left > 2 && at[0] == 0xc5) {
		*ret_map = 1;
		return 2;
	}
	if (left > 3 && at[0] == 0xc4) {
		*ret_map = at[1] & 0x1f;
		*ret_rex = 0x40 | (at[2] & 0x80 ? 8 : 0);
		return 3;
	}
	if (left > 4 && at[0] == 0x62) {
		*ret_map = at[1] & 7;
		return 4;
	}
	return 0;
}

/*
 * Return the total length of ModRM, SIB and displacement, or 0 if they are incomplete.
 */
static size_t modrm_length(const uint8_t *at, size_t left)
{
	size_t length = 1;
	uint8_t mod, rm;

	if (left < 1)
		return 0;
	mod = at[0] >> 6;
	rm = at[0] & 7;
	if (mod == 3)
		return 1;
	if (rm == 4) {
		if (left < 2)
			return 0;
		length++;
		if (mod == 0 && (at[1] & 7) == 5)
			length += 4;
	}
	if (mod == 0 && rm == 5)
		length += 4;
	if (mod == 1)
		length += 1;
	if (mod == 2)
		length += 4;
	return length;
}

static size_t immediate_length(unsigned int has, const struct prefixes *prefixes,
			       uint8_t rex, const uint8_t *opcode)
{
	size_t length = 0;
	size_t word = prefixes->has_operand_size && !(rex & 8) ? 2 : 4;

	if (has & TEST && (opcode[1] >> 3 & 7) < 2)
		has |= opcode[0] & 1 ? LONG : BYTE;
	if (has & BYTE)
		length += 1;
	if (has & WORD)
		length += 2;
	if (has & LONG)
		length += word;
	if (has & LONG_ALWAYS)
		length += 4;
	if (has & QUAD)
		length += rex & 8 ? 8 : word;
	if (has & ADDRESS)
		length += prefixes->has_address_size ? 4 : 8;
	return length;
}

/* Read the prefixes and all opcode bytes except the last. Return their length. */
static size_t read_lead(const uint8_t *code, size_t left, struct x86_instruction *insn,
			struct prefixes *prefixes)
{
	size_t at = 0, vex;

	while (at < left && is_prefix(code[at])) {
		prefixes->has_operand_size |= code[at] == 0x66;
		prefixes->has_address_size |= code[at] == 0x67;
		insn->has_prefix = true;
		at++;
	}
	if (at < left && (code[at] & 0xf0) == 0x40)
		insn->rex = code[at++];
	vex = at < left ? read_vex(code + at, left - at, &insn->map, &insn->rex) : 0;
	if (vex > 0) {
		insn->has_prefix = true;
		return at + vex;
	}
	if (at < left && code[at] == 0x0f) {
		insn->map = 1;
		at++;
		if (at < left && (code[at] == 0x38 || code[at] == 0x3a))
			insn->map = code[at++] == 0x38 ? 2 : 3;
	}
	return at;
}

bool x86_decode(const uint8_t *code, size_t left, struct x86_instruction *ret)
{
	struct x86_instruction insn = { .rex = 0 };
	struct prefixes prefixes = { false, false };
	size_t at, modrm = 0;
	unsigned int has;

	/* an x86 instruction has at most 15 bytes */
	if (left > 15)
		left = 15;
	at = read_lead(code, left, &insn, &prefixes);
	if (at >= left || insn.map >= sizeof(maps) / sizeof(maps[0]))
		return false;
	has = find(insn.map, code[at]);
	if (has & NONE)
		return false;
	insn.opcode_offset = at;
	insn.has_modrm = has & MODRM;
	if (insn.has_modrm) {
		modrm = modrm_length(code + at + 1, left - at - 1);
		/*
		 * opcode 8f is pop if the reg field is 0; otherwise it starts an XOP
		 * instruction of AMD
		 */
		if (modrm == 0 ||
		    (insn.map == 0 && code[at] == 0x8f && code[at + 1] & 0x38))
			return false;
	}
	insn.immediate_bytes = immediate_length(has, &prefixes, insn.rex, code + at);
	insn.length = at + 1 + modrm + insn.immediate_bytes;
	if (insn.length > left)
		return false;
	*ret = insn;
	return true;
}

static int64_t read_long(const uint8_t *at)
{
	return (int32_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
			 (uint32_t)at[3] << 24);
}

bool x86_branch_read(const uint8_t *at, size_t left, struct x86_branch *ret)
{
	if (left >= 2 && (at[0] == 0xeb || (at[0] & 0xf0) == 0x70)) {
		bool is_certain = at[0] == 0xeb;

		*ret = (struct x86_branch){ is_certain ? X86_JUMP : X86_JUMP_IF,
					    is_certain ? 0 : at[0] & 15, false, 2,
					    at[1] - (at[1] > INT8_MAX ? 256 : 0) };
		return true;
	}
	if (left >= 5 && (at[0] == 0xe8 || at[0] == 0xe9)) {
		*ret = (struct x86_branch){ at[0] == 0xe8 ? X86_CALL : X86_JUMP, 0, false,
					    5, read_long(at + 1) };
		return true;
	}
	if (left >= 6 && at[0] == 0x0f && (at[1] & 0xf0) == 0x80) {
		*ret = (struct x86_branch){ X86_JUMP_IF, at[1] & 15, false, 6,
					    read_long(at + 2) };
		return true;
	}
	if (left >= 6 && at[0] == 0xff && (at[1] == 0x15 || at[1] == 0x25)) {
		*ret = (struct x86_branch){ at[1] == 0x15 ? X86_CALL : X86_JUMP, 0, true,
					    6, read_long(at + 2) };
		return true;
	}
	return false;
}

bool x86_branch_next(const uint8_t *code, size_t length, size_t *at,
		     struct x86_branch *ret)
{
	struct x86_instruction insn;

	while (x86_decode(code + *at, length - *at, &insn)) {
		if (x86_branch_read(code + *at, length - *at, ret))
			return true;
		*at += insn.length;
	}
	return false;
}
