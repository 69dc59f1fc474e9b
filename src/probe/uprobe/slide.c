/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/uprobe/slide.h"

#include "probe/borrow/x86_code.h"

/* Register numbers as encoded in x86-64 instructions. */
enum {
	REG_CX = 1,
	REG_DX = 2,
	REG_SP = 4,
	REG_SI = 6,
	REG_DI = 7,
	REG_8 = 8,
	REG_9 = 9
};

/*
 * Registers that must not change between the start of the function and the breakpoint:
 * the registers of the arguments (System V ABI), and the stack pointer, which locates the
 * return address.
 */
static const unsigned int kept_registers = 1 << REG_DI | 1 << REG_SI | 1 << REG_DX |
					   1 << REG_CX | 1 << REG_8 | 1 << REG_9 |
					   1 << REG_SP;

enum writes {
	WRITES_NOTHING,
	WRITES_REG, /* the instruction writes the register in the reg field of ModRM */
	/* the instruction writes the register or memory in the rm field of ModRM */
	WRITES_RM,
	/* the instruction writes the register encoded in the low bits of the opcode */
	WRITES_OPCODE,
	/*
	 * the instruction subtracts its immediate from the stack pointer, which is the
	 * register in the rm field of ModRM
	 */
	MOVES_STACK,
};

#define ANY_EXTENSION -1

/* Instructions after which the breakpoint may be placed. */
struct passable {
	unsigned int map;
	uint8_t first, last; /* range of values of the last opcode byte */
	int extension; /* required value of the reg field of ModRM, or ANY_EXTENSION */
	enum writes writes;
};

static const struct passable passables[] = {
	{ 0, 0x84, 0x85, ANY_EXTENSION, WRITES_NOTHING }, /* test */
	{ 0, 0x38, 0x3d, ANY_EXTENSION, WRITES_NOTHING }, /* cmp */
	{ 0, 0x80, 0x81, 7, WRITES_NOTHING },
	{ 0, 0x83, 0x83, 7, WRITES_NOTHING },
	{ 0, 0x81, 0x81, 5, MOVES_STACK }, /* sub */
	{ 0, 0x83, 0x83, 5, MOVES_STACK },
	{ 0, 0xf6, 0xf7, 0, WRITES_NOTHING },	     /* test */
	{ 0, 0x88, 0x89, ANY_EXTENSION, WRITES_RM }, /* mov */
	{ 0, 0x8a, 0x8b, ANY_EXTENSION, WRITES_REG },
	{ 0, 0x8d, 0x8d, ANY_EXTENSION, WRITES_REG }, /* lea */
	{ 0, 0x30, 0x31, ANY_EXTENSION, WRITES_RM },  /* xor */
	{ 0, 0x32, 0x33, ANY_EXTENSION, WRITES_REG },
	{ 0, 0xb8, 0xbf, ANY_EXTENSION, WRITES_OPCODE },
	{ 0, 0xc7, 0xc7, 0, WRITES_RM },
	{ 1, 0x1e, 0x1f, ANY_EXTENSION, WRITES_NOTHING }, /* endbr64, nop */
	{ 1, 0xb6, 0xb7, ANY_EXTENSION, WRITES_REG },	  /* movzx */
	{ 1, 0x40, 0x4f, ANY_EXTENSION, WRITES_REG },	  /* cmov */
};

static const struct passable *find_passable(const struct x86_instruction *insn,
					    const uint8_t *opcode)
{
	for (size_t i = 0; i < sizeof(passables) / sizeof(passables[0]); i++) {
		const struct passable *p = &passables[i];

		/*
		 * the only instructions with a prefix that are accepted are endbr64 and
		 * nop
		 */
		if (p->map == insn->map && opcode[0] >= p->first &&
		    opcode[0] <= p->last &&
		    (p->extension == ANY_EXTENSION ||
		     (opcode[1] >> 3 & 7) == p->extension) &&
		    (!insn->has_prefix || (p->map == 1 && p->writes == WRITES_NOTHING)))
			return p;
	}
	return NULL;
}

/*
 * Return the register that the instruction writes, or -1 if it writes
 * only memory or nothing.
 */
static int written_register(const struct passable *p, const uint8_t *opcode, uint8_t rex)
{
	switch (p->writes) {
	case WRITES_REG: return (opcode[1] >> 3 & 7) | (rex & 4 ? 8 : 0);
	case WRITES_RM:
		return opcode[1] >> 6 == 3 ? (opcode[1] & 7) | (rex & 1 ? 8 : 0) : -1;
	case WRITES_OPCODE: return (opcode[0] & 7) | (rex & 1 ? 8 : 0);
	case MOVES_STACK:
	case WRITES_NOTHING: break;
	}
	return -1;
}

/*
 * Return the immediate of an instruction such as "sub $0x18,%rsp". Return 0 if the
 * instruction changes another register or has an unusual immediate.
 */
static size_t stack_moved(const struct x86_instruction *insn, const uint8_t *opcode)
{
	uint32_t moved = opcode[2];

	if (opcode[1] != (0xc0 | 5 << 3 | REG_SP) || (insn->rex & 9) != 8)
		return 0;
	if (insn->immediate_bytes == 4)
		moved |= (uint32_t)opcode[3] << 8 | (uint32_t)opcode[4] << 16 |
			 (uint32_t)opcode[5] << 24;
	else if (moved > INT8_MAX)
		return 0;
	return moved <= 4096 ? moved : 0;
}

/*
 * Return the length of the instruction if the breakpoint may be placed after it;
 * otherwise return 0.
 */
static size_t pass(const uint8_t *code, size_t left, size_t *pushed_bytes)
{
	struct x86_instruction insn;
	const struct passable *p;
	const uint8_t *opcode;
	size_t moved = 0;
	int written;

	if (!x86_decode(code, left, &insn))
		return 0;
	opcode = code + insn.opcode_offset;
	p = find_passable(&insn, opcode);
	if (!p)
		return 0;
	written = written_register(p, opcode, insn.rex);
	if (written >= 0 && kept_registers >> written & 1)
		return 0;
	if (p->writes == MOVES_STACK) {
		moved = stack_moved(&insn, opcode);
		if (moved == 0)
			return 0;
	}
	*pushed_bytes += moved;
	return insn.length;
}

/*
 * Return true if the kernel emulates the instruction instead of single-stepping it: see
 * push_setup_xol_ops() and branch_setup_xol_ops() in the kernel. Include only
 * instructions that Linux 4.20 and later emulate.
 */
static bool is_emulated(const uint8_t *at, size_t left)
{
	struct x86_branch branch;

	if (left > 1 && (at[0] & 0xf8) == 0x50)
		return true;
	if (left > 1 && at[0] == 0x41 && (at[1] & 0xf8) == 0x50)
		return true;
	if (left > 0 && at[0] == 0x90)
		return true;
	return x86_branch_read(at, left, &branch) && !branch.is_indirect;
}

/*
 * Return true if a later jump may lead back into the code before the breakpoint, so that
 * one call would hit the breakpoint repeatedly. The function assumes that a jump may
 * start at any byte. A false positive only leads to a breakpoint at a slower position.
 */
static bool is_jumped_to(const uint8_t *code, size_t length, size_t offset)
{
	for (size_t i = offset; i < length; i++) {
		struct x86_branch branch;
		int64_t to;

		if (!x86_branch_read(code + i, length - i, &branch) || branch.is_indirect)
			continue;
		to = (int64_t)(i + branch.length) + branch.distance_bytes;
		if (to > 0 && to <= (int64_t)offset)
			return true;
	}
	return false;
}

void count_slide_find(const uint8_t *code, size_t length, struct count_slide *ret)
{
	size_t looked = length < COUNT_SLIDE_MAX ? length : COUNT_SLIDE_MAX;
	struct count_slide slide = { 0, 0, false };

	while (!slide.is_stepped &&
	       !is_emulated(code + slide.offset_bytes, looked - slide.offset_bytes)) {
		size_t passed = pass(code + slide.offset_bytes,
				     looked - slide.offset_bytes, &slide.pushed_bytes);

		slide.offset_bytes += passed;
		slide.is_stepped = passed == 0;
	}
	if (slide.offset_bytes > 0 && is_jumped_to(code, length, slide.offset_bytes))
		slide.is_stepped = true;
	*ret = slide.is_stepped ? (struct count_slide){ 0, 0, true } : slide;
}
