/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/unwind/cfi.h"

#include <stddef.h>

#include "agent/unwind/bytes.h"

/*
 * Pointer encodings of DWARF. The low four bits select the size, and the next three
 * select the base address.
 */
enum {
	PE_ABSOLUTE = 0x00,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORMAT = 0x0f,
	PE_PC_RELATIVE = 0x10,
	/* the encoding of search tables: 4 bytes, signed, relative to .eh_frame_hdr */
	PE_TABLE = 0x3b,
	PE_BASE = 0x70,
};

/*
 * Opcodes of DWARF call frame instructions. The first three contain an operand in their
 * low six bits.
 */
enum {
	CFA_ADVANCE = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE1 = 0x02,
	CFA_ADVANCE2 = 0x03,
	CFA_ADVANCE4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF = 0x0c,
	CFA_DEF_REGISTER = 0x0d,
	CFA_DEF_OFFSET = 0x0e,
	CFA_DEF_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_SF = 0x11,
	CFA_DEF_SF = 0x12,
	CFA_DEF_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET = 0x2f,
};

#define REMEMBERED_MAX 16
#define STEPS_MAX (1 << 20)

static uint64_t read_pointer(struct bytes *b, unsigned int encoding)
{
	uint64_t base =
		(encoding & PE_BASE) == PE_PC_RELATIVE ? (uint64_t)(uintptr_t)b->at : 0;

	if ((encoding & PE_BASE) > PE_PC_RELATIVE)
		b->is_bad = true;
	switch (encoding & PE_FORMAT) {
	case PE_UDATA2: return base + read_uint(b, 2);
	case PE_UDATA4: return base + read_uint(b, 4);
	case PE_SDATA2: return base + (uint64_t)(int64_t)(int16_t)read_uint(b, 2);
	case PE_SDATA4: return base + (uint64_t)(int64_t)(int32_t)read_uint(b, 4);
	case PE_ABSOLUTE:
	case PE_UDATA8:
	case PE_SDATA8: return base + read_uint(b, 8);
	default: b->is_bad = true; return 0;
	}
}

/*
 * The contents of an FDE (frame description entry) and of its CIE (common information
 * entry).
 */
struct entry {
	/*
	 * call frame instructions of the CIE, and those of the FDE, which are executed
	 * next
	 */
	struct bytes first, rest;
	uint64_t start, end;
	uint64_t code_align;
	int64_t data_align;
	unsigned int encoding;
	bool is_signal;
};

static uint64_t tables_end(const struct unwind_module *module)
{
	return module->tables_end ? module->tables_end : module->end;
}

/*
 * Return true if these bytes are in the part of the module that may contain unwind
 * tables. The check is needed because damaged tables may refer to any address.
 */
static bool is_in(const struct unwind_module *module, const uint8_t *at, uint64_t bytes)
{
	uint64_t addr = (uintptr_t)at, end = tables_end(module);

	return addr >= (module->tables_end ? module->tables_start : module->start) &&
	       addr < end && bytes <= end - addr;
}

/*
 * Open a record of .eh_frame, which consists of a length and that many bytes. The 64-bit
 * format is not supported, because no known program uses it.
 */
static struct bytes open_record(const struct unwind_module *module, const uint8_t *at)
{
	struct bytes b = { at, at, false };
	uint64_t length;

	if (is_in(module, at, 4))
		b.end += 4;
	length = read_uint(&b, 4);
	if (b.is_bad || length < 4 || length >= 0xfffffff0 ||
	    !is_in(module, at, 4 + length))
		b.is_bad = true;
	else
		b.end = b.at + length;
	return b;
}

static void read_augmentation(struct bytes *b, const char *letters, struct entry *e)
{
	for (; *letters; letters++) {
		if (*letters == 'R')
			e->encoding = (unsigned int)read_uint(b, 1);
		else if (*letters == 'L')
			skip(b, 1);
		else if (*letters == 'P')
			read_pointer(b, (unsigned int)read_uint(b, 1) & PE_FORMAT);
		else if (*letters == 'S')
			e->is_signal = true;
		else if (*letters != 'B')
			/*
			 * stop at an unknown letter of the augmentation string; the
			 * caller skips the remaining augmentation data by its length
			 */
			return;
	}
}

static bool read_cie(const struct unwind_module *module, const uint8_t *at,
		     struct entry *e)
{
	struct bytes b = open_record(module, at), data;
	const char *letters;
	uint64_t version;

	if (b.is_bad || read_uint(&b, 4) != 0)
		return false;
	version = read_uint(&b, 1);
	letters = (const char *)b.at;
	while (read_uint(&b, 1) && !b.is_bad)
		;
	if (b.is_bad)
		return false;
	if (version == 4)
		skip(&b, 2);
	else if (version != 1 && version != 3)
		return false;
	e->code_align = read_uleb(&b);
	e->data_align = read_sleb(&b);
	if ((version == 1 ? read_uint(&b, 1) : read_uleb(&b)) != UNWIND_RIP)
		return false;
	e->encoding = PE_ABSOLUTE;
	if (!b.is_bad && letters[0] == 'z') {
		uint64_t length = read_uleb(&b);

		data = b;
		skip(&b, length);
		data.end = b.at;
		read_augmentation(&data, letters + 1, e);
		b.is_bad |= data.is_bad;
	} else if (letters[0]) {
		return false;
	}
	e->first = b;
	return !b.is_bad;
}

static bool read_fde(const struct unwind_module *module, const uint8_t *at,
		     struct entry *e)
{
	struct bytes b = open_record(module, at);
	const uint8_t *id = b.at;
	uint64_t back;

	if (b.is_bad)
		return false;
	back = read_uint(&b, 4);
	e->is_signal = false;
	if (back == 0 || !read_cie(module, id - back, e))
		return false;
	e->start = read_pointer(&b, e->encoding);
	e->end = e->start + read_pointer(&b, e->encoding & PE_FORMAT);
	/* skip the augmentation data, which precedes the instructions */
	skip(&b, read_uleb(&b));
	e->rest = b;
	return !b.is_bad;
}

/*
 * An entry of the search table. Both addresses are relative to the table's header. The
 * struct is packed, because a damaged table may be unaligned.
 */
struct table_entry {
	int32_t pc, entry;
} __attribute__((packed));

/* Return the FDE (frame description entry) for pc, or NULL if no entry covers pc. */
static const uint8_t *find_fde(const struct unwind_module *module, uint64_t pc)
{
	const uint8_t *header = (const uint8_t *)(uintptr_t)module->tables_addr;
	struct bytes b = { header, header, false };
	const struct table_entry *table;
	uint64_t low = 0, high;
	unsigned int frame, count;
	int64_t wanted = (int64_t)(pc - module->tables_addr);

	if (!header || !is_in(module, header, 1))
		return NULL;
	b.end = (const uint8_t *)(uintptr_t)tables_end(module);
	if (read_uint(&b, 1) != 1)
		return NULL;
	frame = (unsigned int)read_uint(&b, 1);
	count = (unsigned int)read_uint(&b, 1);
	if (read_uint(&b, 1) != PE_TABLE)
		return NULL;
	read_pointer(&b, frame);
	high = read_pointer(&b, count);
	if (b.is_bad || high == 0 || high > (uint64_t)(b.end - b.at) / sizeof(*table))
		return NULL;
	table = (const void *)b.at;
	if (wanted < table[0].pc)
		return NULL;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (table[middle].pc <= wanted)
			low = middle;
		else
			high = middle;
	}
	return header + table[low].entry;
}

/*
 * The state of the interpreter for call frame instructions, with the rules for the code
 * address reached so far.
 */
struct program {
	const struct entry *entry;
	struct unwind_rules rules, first;
	struct unwind_rules remembered[REMEMBERED_MAX];
	unsigned int remembered_count;
	uint64_t pc;
};

static struct unwind_rule *rule_of(struct unwind_rules *rules, uint64_t reg)
{
	if (reg == UNWIND_RBP)
		return &rules->rbp;
	return reg == UNWIND_RIP ? &rules->rip : NULL;
}

static void set(struct program *p, uint64_t reg, enum unwind_rule_kind kind,
		int64_t value)
{
	struct unwind_rule *rule = rule_of(&p->rules, reg);

	if (rule)
		*rule = (struct unwind_rule){ kind, 0, value, NULL };
}

static void restore(struct program *p, uint64_t reg)
{
	struct unwind_rule *rule = rule_of(&p->rules, reg);

	if (rule)
		*rule = *rule_of(&p->first, reg);
}

static void set_expression(struct bytes *b, struct unwind_rule *rule,
			   enum unwind_rule_kind kind)
{
	uint64_t length = read_uleb(b);
	const uint8_t *at = b->at;

	skip(b, length);
	if (rule)
		*rule = (struct unwind_rule){ kind, 0, (int64_t)length, at };
}

/*
 * Return a factored offset, which is factor * data_align. Damaged tables may contain any
 * number, so the product may wrap around.
 */
static int64_t scale(const struct program *p, uint64_t factor)
{
	return (int64_t)(factor * (uint64_t)p->entry->data_align);
}

static void define(struct program *p, uint64_t reg, int64_t value)
{
	p->rules.cfa = (struct unwind_rule){ RULE_OFFSET, (uint32_t)reg, value, NULL };
}

static void run_remember(struct program *p, struct bytes *b, bool is_restore)
{
	if (!is_restore && p->remembered_count < REMEMBERED_MAX)
		p->remembered[p->remembered_count++] = p->rules;
	else if (is_restore && p->remembered_count > 0)
		p->rules = p->remembered[--p->remembered_count];
	else
		b->is_bad = true;
}

/*
 * Change the register or offset of the CFA rule. A CFA rule that is an expression must
 * not be changed here, because its value is the expression's length.
 */
static void redefine(struct program *p, struct bytes *b, uint64_t reg, int64_t value)
{
	if (p->rules.cfa.kind == RULE_OFFSET)
		define(p, reg, value);
	else
		b->is_bad = true;
}

/*
 * Execute the instruction if it defines the CFA. Return false for any other instruction.
 */
static bool run_define(struct program *p, struct bytes *b, unsigned int op)
{
	const struct unwind_rule *cfa = &p->rules.cfa;
	uint64_t reg;

	switch (op) {
	case CFA_DEF:
		reg = read_uleb(b);
		define(p, reg, (int64_t)read_uleb(b));
		return true;
	case CFA_DEF_SF:
		reg = read_uleb(b);
		define(p, reg, scale(p, (uint64_t)read_sleb(b)));
		return true;
	case CFA_DEF_REGISTER: redefine(p, b, read_uleb(b), cfa->value); return true;
	case CFA_DEF_OFFSET: redefine(p, b, cfa->reg, (int64_t)read_uleb(b)); return true;
	case CFA_DEF_OFFSET_SF:
		redefine(p, b, cfa->reg, scale(p, (uint64_t)read_sleb(b)));
		return true;
	case CFA_DEF_EXPRESSION:
		set_expression(b, &p->rules.cfa, RULE_EXPRESSION);
		return true;
	default: return false;
	}
}

/* Execute a call frame instruction whose first operand is a register. */
static void run_register(struct program *p, struct bytes *b, unsigned int op)
{
	uint64_t reg = read_uleb(b);

	switch (op) {
	case CFA_OFFSET_EXTENDED:
		set(p, reg, RULE_OFFSET, scale(p, read_uleb(b)));
		return;
	case CFA_OFFSET_SF:
		set(p, reg, RULE_OFFSET, scale(p, (uint64_t)read_sleb(b)));
		return;
	case CFA_GNU_NEGATIVE_OFFSET:
		set(p, reg, RULE_OFFSET, scale(p, 0 - read_uleb(b)));
		return;
	case CFA_VAL_OFFSET: set(p, reg, RULE_VALUE, scale(p, read_uleb(b))); return;
	case CFA_VAL_OFFSET_SF:
		set(p, reg, RULE_VALUE, scale(p, (uint64_t)read_sleb(b)));
		return;
	case CFA_RESTORE_EXTENDED: restore(p, reg); return;
	case CFA_UNDEFINED: set(p, reg, RULE_UNDEFINED, 0); return;
	case CFA_SAME_VALUE: set(p, reg, RULE_SAME, 0); return;
	case CFA_EXPRESSION: set_expression(b, rule_of(&p->rules, reg), RULE_AT); return;
	case CFA_VAL_EXPRESSION:
		set_expression(b, rule_of(&p->rules, reg), RULE_EXPRESSION);
		return;
	/* the caller's value is in a register that the unwinder does not track */
	case CFA_REGISTER:
		read_uleb(b);
		if (rule_of(&p->rules, reg))
			b->is_bad = true;
		return;
	default: b->is_bad = true;
	}
}

/*
 * Execute one call frame instruction. Return the number of bytes by which it
 * advances the code address.
 */
static uint64_t run_one(struct program *p, struct bytes *b)
{
	unsigned int op = (unsigned int)read_uint(b, 1), operand = op & 0x3f;
	uint64_t align = p->entry->code_align;

	switch (op & 0xc0) {
	case CFA_ADVANCE: return operand * align;
	case CFA_OFFSET: set(p, operand, RULE_OFFSET, scale(p, read_uleb(b))); return 0;
	case CFA_RESTORE: restore(p, operand); return 0;
	default: break;
	}
	switch (op) {
	case CFA_NOP: return 0;
	case CFA_SET_LOC: return read_pointer(b, p->entry->encoding) - p->pc;
	case CFA_ADVANCE1: return read_uint(b, 1) * align;
	case CFA_ADVANCE2: return read_uint(b, 2) * align;
	case CFA_ADVANCE4: return read_uint(b, 4) * align;
	case CFA_REMEMBER:
	case CFA_RESTORE_STATE: run_remember(p, b, op == CFA_RESTORE_STATE); return 0;
	case CFA_GNU_ARGS_SIZE: read_uleb(b); return 0;
	default: break;
	}
	if (!run_define(p, b, op))
		run_register(p, b, op);
	return 0;
}

/* Execute call frame instructions until the code address would exceed pc. */
static bool run(struct program *p, struct bytes b, uint64_t pc)
{
	for (int steps = 0; b.at < b.end; steps++) {
		uint64_t by = run_one(p, &b);

		if (b.is_bad || steps > STEPS_MAX)
			return false;
		if (p->pc + by > pc)
			break;
		p->pc += by;
	}
	return true;
}

bool unwind_rules_find(const struct unwind_module *module, uint64_t pc,
		       struct unwind_rules *ret)
{
	struct entry entry;
	struct program p;
	const uint8_t *fde = find_fde(module, pc);

	if (!fde || !read_fde(module, fde, &entry) || pc < entry.start || pc >= entry.end)
		return false;
	p.entry = &entry;
	p.remembered_count = 0;
	p.pc = entry.start;
	p.rules.is_signal = entry.is_signal;
	p.rules.cfa = (struct unwind_rule){ RULE_UNDEFINED, 0, 0, NULL };
	p.rules.rbp = (struct unwind_rule){ RULE_SAME, 0, 0, NULL };
	p.rules.rip = (struct unwind_rule){ RULE_SAME, 0, 0, NULL };
	p.first = p.rules;
	if (!run(&p, entry.first, UINT64_MAX))
		return false;
	p.first = p.rules;
	p.pc = entry.start;
	if (!run(&p, entry.rest, pc))
		return false;
	*ret = p.rules;
	return true;
}
