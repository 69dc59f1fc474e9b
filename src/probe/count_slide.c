/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count_slide.h"

#if defined(__x86_64__)

/* Registers by their numbers in instructions. */
enum { REG_CX = 1, REG_DX = 2, REG_SP = 4, REG_SI = 6, REG_DI = 7, REG_8 = 8, REG_9 = 9 };

/* Those that the arguments are in (System V ABI), and the one that leads to where it returns. */
static const unsigned int kept_registers = 1 << REG_DI | 1 << REG_SI | 1 << REG_DX | 1 << REG_CX |
					   1 << REG_8 | 1 << REG_9 | 1 << REG_SP;

enum writes {
	WRITES_NOTHING,
	WRITES_REG, /* the register that reg of ModRM names */
	WRITES_RM,  /* the register or memory that rm names */
	WRITES_OPCODE, /* the register in the low bits of the opcode */
	MOVES_STACK,   /* takes its immediate off the stack pointer, which is rm */
};

#define ANY_EXTENSION -1

/*
 * What may be passed over: instructions that go on to the next one. Intel SDM volume 2,
 * appendix A.
 */
struct passable {
	uint8_t first, last; /* opcodes */
	bool is_two_byte;    /* 0x0f comes before */
	bool has_modrm;
	int extension; /* what reg of ModRM has to be */
	uint8_t immediate_bytes;
	bool is_immediate_wide; /* 8 of them with REX.W */
	enum writes writes;
};

static const struct passable passables[] = {
	{ 0x84, 0x85, false, true, ANY_EXTENSION, 0, false, WRITES_NOTHING }, /* test */
	{ 0x38, 0x3b, false, true, ANY_EXTENSION, 0, false, WRITES_NOTHING }, /* cmp */
	{ 0x3c, 0x3c, false, false, ANY_EXTENSION, 1, false, WRITES_NOTHING },
	{ 0x3d, 0x3d, false, false, ANY_EXTENSION, 4, false, WRITES_NOTHING },
	{ 0x80, 0x80, false, true, 7, 1, false, WRITES_NOTHING },
	{ 0x81, 0x81, false, true, 7, 4, false, WRITES_NOTHING },
	{ 0x83, 0x83, false, true, 7, 1, false, WRITES_NOTHING },
	{ 0x83, 0x83, false, true, 5, 1, false, MOVES_STACK }, /* sub */
	{ 0x81, 0x81, false, true, 5, 4, false, MOVES_STACK },
	{ 0xf6, 0xf6, false, true, 0, 1, false, WRITES_NOTHING }, /* test */
	{ 0xf7, 0xf7, false, true, 0, 4, false, WRITES_NOTHING },
	{ 0x88, 0x89, false, true, ANY_EXTENSION, 0, false, WRITES_RM }, /* mov */
	{ 0x8a, 0x8b, false, true, ANY_EXTENSION, 0, false, WRITES_REG },
	{ 0x8d, 0x8d, false, true, ANY_EXTENSION, 0, false, WRITES_REG }, /* lea */
	{ 0x30, 0x31, false, true, ANY_EXTENSION, 0, false, WRITES_RM },  /* xor */
	{ 0x32, 0x33, false, true, ANY_EXTENSION, 0, false, WRITES_REG },
	{ 0xb8, 0xbf, false, false, ANY_EXTENSION, 4, true, WRITES_OPCODE },
	{ 0xc7, 0xc7, false, true, 0, 4, false, WRITES_RM },
	{ 0x1e, 0x1f, true, true, ANY_EXTENSION, 0, false, WRITES_NOTHING }, /* endbr64, nop */
	{ 0xb6, 0xb7, true, true, ANY_EXTENSION, 0, false, WRITES_REG },     /* movzx */
	{ 0x40, 0x4f, true, true, ANY_EXTENSION, 0, false, WRITES_REG },     /* cmov */
};

struct decoded {
	size_t length;
	size_t pushed_bytes;
};

/* Of ModRM and what belongs to it, but for immediates; 0: cut off. */
static size_t modrm_length(const uint8_t *at, size_t left)
{
	uint8_t mod, rm;
	size_t length = 1;

	if (left < 2)
		return 0;
	mod = at[0] >> 6;
	rm = at[0] & 7;
	if (mod != 3 && rm == 4) {
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

static const struct passable *find_passable(const uint8_t *at, size_t left, bool is_two_byte)
{
	for (size_t i = 0; i < sizeof(passables) / sizeof(passables[0]); i++) {
		const struct passable *p = &passables[i];

		if (p->is_two_byte == is_two_byte && at[0] >= p->first && at[0] <= p->last &&
		    (!p->has_modrm || left > 1) &&
		    (p->extension == ANY_EXTENSION || (at[1] >> 3 & 7) == p->extension))
			return p;
	}
	return NULL;
}

/* The register that it writes, or -1: none, or memory. */
static int written_register(const struct passable *p, const uint8_t *at, uint8_t rex)
{
	switch (p->writes) {
	case WRITES_REG:
		return (at[1] >> 3 & 7) | (rex & 4 ? 8 : 0);
	case WRITES_RM:
		return at[1] >> 6 == 3 ? (at[1] & 7) | (rex & 1 ? 8 : 0) : -1;
	case WRITES_OPCODE:
		return (at[0] & 7) | (rex & 1 ? 8 : 0);
	case MOVES_STACK:
	case WRITES_NOTHING:
		break;
	}
	return -1;
}

/* "sub $0x18,%rsp": how much, or 0 if it is another register, or not more than a page. */
static size_t stack_moved(const uint8_t *at, uint8_t rex, size_t immediate_bytes)
{
	uint32_t moved = at[2];

	if (at[1] != (0xc0 | 5 << 3 | REG_SP) || (rex & 9) != 8)
		return 0;
	if (immediate_bytes == 4)
		moved |= (uint32_t)at[3] << 8 | (uint32_t)at[4] << 16 | (uint32_t)at[5] << 24;
	else if (moved > INT8_MAX)
		return 0;
	return moved <= 4096 ? moved : 0;
}

/* One that may be passed over. */
static bool decode(const uint8_t *code, size_t left, struct decoded *ret)
{
	const uint8_t *at = code;
	size_t operands = 0, immediate;
	const struct passable *p;
	bool is_two_byte = false;
	uint8_t rex = 0;
	int written;

	ret->pushed_bytes = 0;
	/* prefixes: of endbr64, and of nops */
	while (left > 0 && (*at == 0x66 || *at == 0xf3 || *at == 0x2e)) {
		at++;
		left--;
	}
	if (at > code && (left < 2 || at[0] != 0x0f || at[1] < 0x1e || at[1] > 0x1f))
		return false;
	if (left > 0 && (*at & 0xf0) == 0x40) {
		rex = *at++;
		left--;
	}
	if (left > 0 && *at == 0x0f) {
		is_two_byte = true;
		at++;
		left--;
	}
	p = left > 0 ? find_passable(at, left, is_two_byte) : NULL;
	if (!p)
		return false;
	immediate = p->is_immediate_wide && rex & 8 ? 8 : p->immediate_bytes;
	if (p->has_modrm) {
		operands = modrm_length(at + 1, left - 1);
		if (operands == 0)
			return false;
	}
	if (1 + operands + immediate > left)
		return false;
	written = written_register(p, at, rex);
	if (written >= 0 && kept_registers >> written & 1)
		return false;
	if (p->writes == MOVES_STACK) {
		ret->pushed_bytes = stack_moved(at, rex, immediate);
		if (ret->pushed_bytes == 0)
			return false;
	}
	ret->length = (size_t)(at - code) + 1 + operands + immediate;
	return true;
}

/*
 * push_setup_xol_ops(), branch_setup_xol_ops(). What they do since Linux 4.20 alone is
 * taken for certain.
 */
static bool is_emulated(const uint8_t *at, size_t left)
{
	if (left < 2)
		return false;
	if ((at[0] & 0xf8) == 0x50 || (at[0] == 0x41 && (at[1] & 0xf8) == 0x50))
		return true;
	if (at[0] == 0x90 || at[0] == 0xeb || (at[0] & 0xf0) == 0x70)
		return true;
	if (left < 6)
		return false;
	return at[0] == 0xe8 || at[0] == 0xe9 || (at[0] == 0x0f && (at[1] & 0xf0) == 0x80);
}

/* How far the jump at this place leads, from its own end. Its length, or 0: there is none. */
static size_t read_jump(const uint8_t *at, size_t left, int64_t *ret_bytes)
{
	bool is_two_byte = left > 6 && at[0] == 0x0f && (at[1] & 0xf0) == 0x80;
	const uint8_t *by = at + 1 + is_two_byte;

	if (left > 2 && (at[0] == 0xeb || (at[0] & 0xf0) == 0x70)) {
		*ret_bytes = at[1] - (at[1] > INT8_MAX ? 256 : 0);
		return 2;
	}
	if (!is_two_byte && (left < 6 || at[0] != 0xe9))
		return 0;
	*ret_bytes = (int32_t)((uint32_t)by[0] | (uint32_t)by[1] << 8 | (uint32_t)by[2] << 16 |
			       (uint32_t)by[3] << 24);
	return 5 + is_two_byte;
}

/*
 * Whether a jump further on leads back in between, so that the point would be come to again. Any
 * byte is taken for the beginning of one: what is none costs a better point at most.
 */
static bool is_jumped_to(const uint8_t *code, size_t length, size_t offset)
{
	for (size_t i = offset; i < length; i++) {
		int64_t by = 0;
		size_t jump = read_jump(code + i, length - i, &by);
		int64_t to = (int64_t)(i + jump) + by;

		if (jump > 0 && to > 0 && to <= (int64_t)offset)
			return true;
	}
	return false;
}

void count_slide_find(const uint8_t *code, size_t length, struct count_slide *ret)
{
	struct count_slide slide = { 0, 0, false };
	size_t all = length;
	struct decoded passed;

	if (length > COUNT_SLIDE_MAX)
		length = COUNT_SLIDE_MAX;
	while (!is_emulated(code + slide.offset_bytes, length - slide.offset_bytes)) {
		if (!decode(code + slide.offset_bytes, length - slide.offset_bytes, &passed)) {
			*ret = (struct count_slide){ 0, 0, true };
			return;
		}
		slide.offset_bytes += passed.length;
		slide.pushed_bytes += passed.pushed_bytes;
	}
	if (slide.offset_bytes > 0 && is_jumped_to(code, all, slide.offset_bytes))
		slide = (struct count_slide){ 0, 0, true };
	*ret = slide;
}

#else

void count_slide_find(const uint8_t *code, size_t length, struct count_slide *ret)
{
	(void)code;
	(void)length;
	*ret = (struct count_slide){ 0, 0, false };
}

#endif
