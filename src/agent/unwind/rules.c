/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rules - apply unwind rules to the registers and the stack of a thread. */
#include "agent/unwind/cfi.h"

#include <stddef.h>

#include "agent/unwind/bytes.h"

/* Opcodes of the DWARF expressions that compilers and libc use in unwind tables. */
enum {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0a,
	OP_CONST2S = 0x0b,
	OP_CONST4U = 0x0c,
	OP_CONST4S = 0x0d,
	OP_CONST8U = 0x0e,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_MUL = 0x1e,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_NOP = 0x96,
};

#define OPERANDS_MAX 16

struct evaluation {
	struct bytes bytes;
	const struct unwind_state *state;
	unwind_read *read;
	void *context;
	uint64_t stack[OPERANDS_MAX];
	unsigned int count;
};

static void push(struct evaluation *e, uint64_t value)
{
	if (e->count < OPERANDS_MAX)
		e->stack[e->count++] = value;
	else
		e->bytes.is_bad = true;
}

static uint64_t pop(struct evaluation *e)
{
	if (e->count > 0)
		return e->stack[--e->count];
	e->bytes.is_bad = true;
	return 0;
}

static uint64_t combine(struct evaluation *e, unsigned int op, uint64_t a, uint64_t b)
{
	switch (op) {
	case OP_AND: return a & b;
	case OP_MINUS: return a - b;
	case OP_MUL: return a * b;
	case OP_OR: return a | b;
	case OP_PLUS: return a + b;
	case OP_SHL: return b < 64 ? a << b : 0;
	case OP_SHR: return b < 64 ? a >> b : 0;
	case OP_EQ: return a == b;
	case OP_NE: return a != b;
	case OP_GE: return (int64_t)a >= (int64_t)b;
	case OP_GT: return (int64_t)a > (int64_t)b;
	case OP_LE: return (int64_t)a <= (int64_t)b;
	case OP_LT: return (int64_t)a < (int64_t)b;
	default: e->bytes.is_bad = true; return 0;
	}
}

static uint64_t register_value(struct evaluation *e, unsigned int reg)
{
	switch (reg) {
	case UNWIND_RBP: return e->state->rbp;
	case UNWIND_RSP: return e->state->sp;
	case UNWIND_RIP: return e->state->pc;
	default: e->bytes.is_bad = true; return 0;
	}
}

/*
 * Execute an operation of a DWARF expression if it pushes a constant. Return false for
 * any other operation.
 */
static bool push_constant(struct evaluation *e, unsigned int op)
{
	struct bytes *b = &e->bytes;

	switch (op) {
	case OP_CONST1U: push(e, read_uint(b, 1)); return true;
	case OP_CONST1S: push(e, (uint64_t)(int64_t)(int8_t)read_uint(b, 1)); return true;
	case OP_CONST2U: push(e, read_uint(b, 2)); return true;
	case OP_CONST2S:
		push(e, (uint64_t)(int64_t)(int16_t)read_uint(b, 2));
		return true;
	case OP_CONST4U: push(e, read_uint(b, 4)); return true;
	case OP_CONST4S:
		push(e, (uint64_t)(int64_t)(int32_t)read_uint(b, 4));
		return true;
	case OP_CONST8U:
	case OP_CONST8S: push(e, read_uint(b, 8)); return true;
	case OP_CONSTU: push(e, read_uleb(b)); return true;
	case OP_CONSTS: push(e, (uint64_t)read_sleb(b)); return true;
	default: break;
	}
	if (op < OP_LIT0 || op > OP_LIT31)
		return false;
	push(e, op - OP_LIT0);
	return true;
}

static void evaluate_one(struct evaluation *e)
{
	unsigned int op = (unsigned int)read_uint(&e->bytes, 1);
	uint64_t a, b;

	if (push_constant(e, op) || op == OP_NOP)
		return;
	if (op >= OP_BREG0 && op <= OP_BREG0 + UNWIND_RIP) {
		a = register_value(e, op - OP_BREG0);
		push(e, a + (uint64_t)read_sleb(&e->bytes));
		return;
	}
	b = pop(e);
	if (op == OP_DEREF) {
		e->bytes.is_bad |= !e->read(e->context, b, &a);
		push(e, e->bytes.is_bad ? 0 : a);
	} else if (op == OP_DUP) {
		push(e, b);
		push(e, b);
	} else if (op == OP_PLUS_UCONST) {
		push(e, b + read_uleb(&e->bytes));
	} else {
		a = pop(e);
		push(e, combine(e, op, a, b));
	}
}

static bool evaluate(struct evaluation *e, const struct unwind_rule *rule, uint64_t *ret)
{
	e->bytes =
		(struct bytes){ rule->expression, rule->expression + rule->value, false };
	while (e->bytes.at < e->bytes.end && !e->bytes.is_bad)
		evaluate_one(e);
	if (e->bytes.is_bad || e->count == 0)
		return false;
	*ret = e->stack[e->count - 1];
	return true;
}

static bool find_cfa(struct evaluation *e, const struct unwind_rule *rule, uint64_t *ret)
{
	uint64_t base;

	e->count = 0;
	if (rule->kind == RULE_EXPRESSION)
		return evaluate(e, rule, ret);
	if (rule->kind != RULE_OFFSET)
		return false;
	e->bytes.is_bad = false;
	base = register_value(e, rule->reg);
	*ret = base + (uint64_t)rule->value;
	return !e->bytes.is_bad;
}

static bool find_register(struct evaluation *e, const struct unwind_rule *rule,
			  uint64_t cfa, uint64_t *value)
{
	uint64_t at = cfa + (uint64_t)rule->value;

	/* a register's expression is evaluated with the CFA on the operand stack */
	e->count = 0;
	push(e, cfa);
	switch (rule->kind) {
	case RULE_SAME: return true;
	case RULE_VALUE: *value = at; return true;
	case RULE_OFFSET: return e->read(e->context, at, value);
	case RULE_EXPRESSION: return evaluate(e, rule, value);
	case RULE_AT: return evaluate(e, rule, &at) && e->read(e->context, at, value);
	default: return false;
	}
}

int unwind_rules_apply(const struct unwind_rules *rules, struct unwind_state *state,
		       unwind_read *read, void *context)
{
	struct evaluation e = { .state = state, .read = read, .context = context };
	struct unwind_state next = { 0, 0, state->rbp };

	if (rules->rip.kind == RULE_UNDEFINED)
		return 0;
	if (rules->rip.kind == RULE_SAME || !find_cfa(&e, &rules->cfa, &next.sp) ||
	    !find_register(&e, &rules->rip, next.sp, &next.pc))
		return -1;
	/*
	 * if the tables declare that the caller's rbp is lost, continue without it,
	 * because the caller may not need it
	 */
	if (rules->rbp.kind != RULE_UNDEFINED &&
	    !find_register(&e, &rules->rbp, next.sp, &next.rbp))
		return -1;
	*state = next;
	return 1;
}
