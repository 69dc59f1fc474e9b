/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/uprobe/bpf_program.h"

#include <assert.h>
#include <stdbool.h>

/*
 * BPF registers. Registers 1 to 5 contain the arguments of kernel functions, and register
 * 0 the result; a call overwrites all six. Register 10 points to the upper end of the BPF
 * stack frame.
 */
enum {
	R_RESULT = BPF_REG_0,
	R_ARG1 = BPF_REG_1,
	R_ARG2 = BPF_REG_2,
	R_ARG3 = BPF_REG_3,
	R_SPARE = BPF_REG_5,
	/*
	 * address of struct pt_regs, which contains the registers of the counted thread
	 */
	R_CONTEXT = BPF_REG_6,
	R_VALUE = BPF_REG_7, /* address of the thread's struct count_bpf_value */
	R_TID = BPF_REG_8,
	R_STACK = BPF_REG_9, /* the thread's stack pointer at the start of the function */
	R_FRAME = BPF_REG_10,
};

/* offset in the BPF stack frame at which the index into the map is stored */
#define FRAME_KEY -8

/* Offsets of registers in struct pt_regs of x86-64. */
enum {
	CONTEXT_ARG3 = 96,
	CONTEXT_ARG2 = 104,
	CONTEXT_ARG1 = 112,
	CONTEXT_FLAGS = 144,
	CONTEXT_STACK = 152,
};

static const size_t context_args[] = { CONTEXT_ARG1, CONTEXT_ARG2, CONTEXT_ARG3 };

#define NO_ARG -1

/*
 * For each function, the indexes into context_args of its size and count arguments;
 * NO_ARG if it has no such argument.
 */
static const struct {
	int size, count;
} functions[CALL_COUNT_] = {
	[CALL_MALLOC] = { 0, NO_ARG },
	[CALL_FREE] = { NO_ARG, NO_ARG },
	[CALL_CALLOC] = { 1, 0 },
	[CALL_REALLOC] = { 1, NO_ARG },
	[CALL_REALLOCARRAY] = { 2, 1 },
	[CALL_POSIX_MEMALIGN] = { 2, NO_ARG },
	[CALL_ALIGNED_ALLOC] = { 1, NO_ARG },
	[CALL_MEMALIGN] = { 1, NO_ARG },
	[CALL_VALLOC] = { 0, NO_ARG },
	[CALL_PVALLOC] = { 0, NO_ARG },
	[CALL_NEW] = { 0, NO_ARG },
	[CALL_DELETE] = { NO_ARG, NO_ARG },
};

static void add(struct count_bpf_program *p, struct bpf_insn insn)
{
	assert(p->count < COUNT_BPF_INSTRUCTION_MAX);
	p->items[p->count++] = insn;
}

static void add_move(struct count_bpf_program *p, unsigned int to, unsigned int from)
{
	add(p, (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_X,
				  .dst_reg = to & 15u,
				  .src_reg = from & 15u });
}

static void add_immediate(struct count_bpf_program *p, uint8_t operation, unsigned int to,
			  int32_t value)
{
	add(p, (struct bpf_insn){ .code = (uint8_t)(BPF_ALU64 | BPF_K | operation),
				  .dst_reg = to & 15u,
				  .imm = value });
}

static void add_operation(struct count_bpf_program *p, uint8_t operation, unsigned int to,
			  unsigned int from)
{
	add(p, (struct bpf_insn){ .code = (uint8_t)(BPF_ALU64 | BPF_X | operation),
				  .dst_reg = to & 15u,
				  .src_reg = from & 15u });
}

static void add_load(struct count_bpf_program *p, unsigned int to, unsigned int from,
		     size_t offset)
{
	add(p, (struct bpf_insn){ .code = BPF_LDX | BPF_MEM | BPF_DW,
				  .dst_reg = to & 15u,
				  .src_reg = from & 15u,
				  .off = (int16_t)offset });
}

static void add_store(struct count_bpf_program *p, unsigned int to, int offset,
		      unsigned int from)
{
	add(p, (struct bpf_insn){ .code = BPF_STX | BPF_MEM | BPF_DW,
				  .dst_reg = to & 15u,
				  .src_reg = from & 15u,
				  .off = (int16_t)offset });
}

static void add_store_value(struct count_bpf_program *p, unsigned int to, int offset,
			    int32_t value)
{
	add(p, (struct bpf_insn){ .code = BPF_ST | BPF_MEM | BPF_DW,
				  .dst_reg = to & 15u,
				  .off = (int16_t)offset,
				  .imm = value });
}

/*
 * Generate *(to + offset) += from, as an atomic addition, because all processors update
 * the same values of the map.
 */
static void add_sum(struct count_bpf_program *p, unsigned int to, size_t offset,
		    unsigned int from)
{
	add(p, (struct bpf_insn){ .code = BPF_STX | BPF_ATOMIC | BPF_DW,
				  .dst_reg = to & 15u,
				  .src_reg = from & 15u,
				  .off = (int16_t)offset,
				  .imm = BPF_ADD });
}

static void add_wide(struct count_bpf_program *p, unsigned int to, unsigned int kind,
		     uint64_t value)
{
	add(p, (struct bpf_insn){ .code = BPF_LD | BPF_IMM | BPF_DW,
				  .dst_reg = to & 15u,
				  .src_reg = kind & 15u,
				  .imm = (int32_t)(uint32_t)value });
	add(p, (struct bpf_insn){ .imm = (int32_t)(uint32_t)(value >> 32) });
}

static void add_map(struct count_bpf_program *p, unsigned int to, int fd)
{
	add_wide(p, to, BPF_PSEUDO_MAP_FD, (uint32_t)fd);
}

static void add_call(struct count_bpf_program *p, int function)
{
	add(p, (struct bpf_insn){ .code = BPF_JMP | BPF_CALL, .imm = function });
}

/*
 * Generate a forward jump. Return its index; resolve_jump() later sets
 * the jump's target.
 */
static size_t add_jump(struct count_bpf_program *p, uint8_t condition, unsigned int left,
		       int32_t right)
{
	add(p, (struct bpf_insn){ .code = (uint8_t)(BPF_JMP | BPF_K | condition),
				  .dst_reg = left & 15u,
				  .imm = right });
	return p->count - 1;
}

static size_t add_jump_by(struct count_bpf_program *p, uint8_t condition,
			  unsigned int left, unsigned int right)
{
	add(p, (struct bpf_insn){ .code = (uint8_t)(BPF_JMP | BPF_X | condition),
				  .dst_reg = left & 15u,
				  .src_reg = right & 15u });
	return p->count - 1;
}

static void resolve_jump(struct count_bpf_program *p, size_t jump)
{
	p->items[jump].off = (int16_t)(p->count - jump - 1);
}

static void add_end(struct count_bpf_program *p)
{
	add_immediate(p, BPF_MOV, R_RESULT, 0);
	add(p, (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT });
}

static void add_arg(struct count_bpf_program *p, unsigned int to, int arg)
{
	add_load(p, to, R_CONTEXT, context_args[arg]);
}

/*
 * Generate code that sets R_RESULT to the address of the map element whose index is at
 * FRAME_KEY in the stack frame. The kernel inlines the call to the lookup function.
 */
static void add_lookup(struct count_bpf_program *p, int map_fd)
{
	add_map(p, R_ARG1, map_fd);
	add_move(p, R_ARG2, R_FRAME);
	add_immediate(p, BPF_ADD, R_ARG2, FRAME_KEY);
	add_call(p, BPF_FUNC_map_lookup_elem);
}

static void add_store_key(struct count_bpf_program *p, unsigned int from)
{
	add(p, (struct bpf_insn){ .code = BPF_STX | BPF_MEM | BPF_W,
				  .dst_reg = R_FRAME,
				  .src_reg = from & 15u,
				  .off = FRAME_KEY });
}

/*
 * Generate an atomic compare-and-exchange, which loads the tid of the map element at
 * R_VALUE into R_RESULT and, if it is 0, stores R_TID there.
 */
static void add_claim(struct count_bpf_program *p)
{
	add_immediate(p, BPF_MOV, R_RESULT, 0);
	add(p, (struct bpf_insn){ .code = BPF_STX | BPF_ATOMIC | BPF_DW,
				  .dst_reg = R_VALUE,
				  .src_reg = R_TID,
				  .off = offsetof(struct count_bpf_value, tid),
				  .imm = BPF_CMPXCHG });
}

/*
 * Generate code that sets R_VALUE to the address of the map element with the thread's
 * counts. The tid selects COUNT_BPF_TRIES elements, one of which belongs to the thread; a
 * new thread claims the first free element. If none of them is free, the last element of
 * the map is used, which all such threads share.
 */
static void add_find_value(struct count_bpf_program *p, int map_fd)
{
	size_t found[2 * COUNT_BPF_TRIES + 1], found_count = 0;
	size_t none[COUNT_BPF_TRIES + 1];

	add_call(p, BPF_FUNC_get_current_pid_tgid);
	add(p, (struct bpf_insn){ .code = BPF_ALU | BPF_MOV | BPF_X,
				  .dst_reg = R_TID,
				  .src_reg = R_RESULT });
	for (int i = 0; i < COUNT_BPF_TRIES; i++) {
		size_t others[2];

		add_move(p, R_ARG1, R_TID);
		add_immediate(p, BPF_ADD, R_ARG1, i);
		add_immediate(p, BPF_AND, R_ARG1, COUNT_BPF_THREADS - 1);
		add_store_key(p, R_ARG1);
		add_lookup(p, map_fd);
		none[i] = add_jump(p, BPF_JEQ, R_RESULT, 0);
		add_move(p, R_VALUE, R_RESULT);
		add_load(p, R_ARG1, R_VALUE, offsetof(struct count_bpf_value, tid));
		found[found_count++] = add_jump_by(p, BPF_JEQ, R_ARG1, R_TID);
		others[0] = add_jump(p, BPF_JNE, R_ARG1, 0);
		add_claim(p);
		others[1] = add_jump(p, BPF_JNE, R_RESULT, 0);
		add_move(p, R_ARG1, R_VALUE);
		add_immediate(p, BPF_ADD, R_ARG1, offsetof(struct count_bpf_value, name));
		add_immediate(p, BPF_MOV, R_ARG2, COUNT_BPF_NAME_BYTES);
		add_call(p, BPF_FUNC_get_current_comm);
		found[found_count++] = add_jump(p, BPF_JA, R_RESULT, 0);
		resolve_jump(p, others[0]);
		resolve_jump(p, others[1]);
	}
	add_immediate(p, BPF_MOV, R_ARG1, COUNT_BPF_THREADS);
	add_store_key(p, R_ARG1);
	add_lookup(p, map_fd);
	add_move(p, R_VALUE, R_RESULT);
	found[found_count++] = add_jump(p, BPF_JNE, R_RESULT, 0);
	for (size_t i = 0; i < COUNT_BPF_TRIES; i++)
		resolve_jump(p, none[i]);
	add_end(p);
	for (size_t i = 0; i < found_count; i++)
		resolve_jump(p, found[i]);
}

/*
 * Generate code that sets R_TID to 1 if the allocator itself made this call, and to 0
 * otherwise. The allocator made the call if the stack pointer equals the one recorded at
 * the calling instruction in the allocator (the inner point). R_TID may be overwritten,
 * because the tid is no longer needed.
 */
static void add_is_inner(struct count_bpf_program *p, size_t number)
{
	size_t jumps[2];

	add_immediate(p, BPF_MOV, R_TID, 0);
	add_load(p, R_ARG1, R_VALUE, offsetof(struct count_bpf_value, inner_stack_addr));
	jumps[0] = add_jump_by(p, BPF_JNE, R_ARG1, R_STACK);
	add_load(p, R_ARG1, R_VALUE, offsetof(struct count_bpf_value, inner_point));
	jumps[1] = add_jump(p, BPF_JNE, R_ARG1, (int32_t)number);
	add_store_value(p, R_VALUE, offsetof(struct count_bpf_value, inner_stack_addr),
			0);
	add_immediate(p, BPF_MOV, R_TID, 1);
	resolve_jump(p, jumps[0]);
	resolve_jump(p, jumps[1]);
}

/*
 * Generate code that sets R_SPARE to count * size. On overflow the BPF program exits
 * without counting, because the allocation will fail.
 */
static void add_product(struct count_bpf_program *p, int count_arg)
{
	size_t small, zero, fits;

	add_arg(p, R_ARG1, count_arg);
	add_move(p, R_ARG2, R_ARG1);
	add_move(p, R_ARG3, R_SPARE);
	add_operation(p, BPF_OR, R_ARG2, R_SPARE);
	add_immediate(p, BPF_RSH, R_ARG2, 32);
	add_operation(p, BPF_MUL, R_SPARE, R_ARG1);
	small = add_jump(p, BPF_JEQ, R_ARG2, 0);
	zero = add_jump(p, BPF_JEQ, R_ARG1, 0);
	add_move(p, R_ARG2, R_SPARE);
	add_operation(p, BPF_DIV, R_ARG2, R_ARG1);
	fits = add_jump_by(p, BPF_JEQ, R_ARG2, R_ARG3);
	add_end(p);
	resolve_jump(p, small);
	resolve_jump(p, zero);
	resolve_jump(p, fits);
}

/*
 * Generate code that adds 1 to free_null_calls if the first argument of the counted call
 * is NULL. The register R_ARG1 must already contain the 1 to add.
 */
static void add_counting_null(struct count_bpf_program *p)
{
	size_t block;

	add_arg(p, R_SPARE, 0);
	block = add_jump(p, BPF_JNE, R_SPARE, 0);
	add_sum(p, R_VALUE, offsetof(struct count_bpf_value, free_null_calls), R_ARG1);
	resolve_jump(p, block);
}

static void add_counting(struct count_bpf_program *p, const struct count_point *point)
{
	enum counted_call call = point->call;
	int size = point->size_is_first ? 0 : functions[call].size;
	int count = point->size_is_first ? NO_ARG : functions[call].count;
	size_t negative;

	add_immediate(p, BPF_MOV, R_ARG1, 1);
	add_sum(p, R_VALUE,
		offsetof(struct count_bpf_value, calls) + call * sizeof(uint64_t),
		R_ARG1);
	if (call == CALL_FREE || call == CALL_DELETE)
		add_counting_null(p);
	if (size == NO_ARG)
		return;
	add_arg(p, R_SPARE, size);
	if (count != NO_ARG)
		add_product(p, count);
	/* ignore a negative size, because no allocator can return such a large block */
	negative = add_jump(p, BPF_JSLT, R_SPARE, 0);
	add_sum(p, R_VALUE, offsetof(struct count_bpf_value, requested_bytes), R_SPARE);
	resolve_jump(p, negative);
}

/*
 * Generate code that sets R_ARG1 to nonzero if the processor's flags meet the
 * condition of a conditional jump. The lowest bit of the condition inverts it; the
 * caller handles this bit.
 */
static void add_condition(struct count_bpf_program *p, unsigned int condition)
{
	enum {
		CARRY = 1 << 0,
		PARITY = 1 << 2,
		ZERO = 1 << 6,
		SIGN = 1 << 7,
		OVERFLOW = 1 << 11
	};
	static const int32_t flags[8] = { OVERFLOW, CARRY,  ZERO, CARRY | ZERO,
					  SIGN,	    PARITY, 0,	  ZERO };
	/*
	 * the jumps that compare signed numbers (jl, jge, jle, jg) also depend on whether
	 * the SIGN and OVERFLOW flags differ
	 */
	bool is_compared = condition >> 1 >= 6;

	add_load(p, R_ARG1, R_CONTEXT, CONTEXT_FLAGS);
	if (is_compared) {
		/* shift the OVERFLOW flag to the position of SIGN */
		add_move(p, R_ARG2, R_ARG1);
		add_immediate(p, BPF_RSH, R_ARG2, 4);
		add_operation(p, BPF_XOR, R_ARG2, R_ARG1);
		add_immediate(p, BPF_AND, R_ARG2, SIGN);
	}
	add_immediate(p, BPF_AND, R_ARG1, flags[condition >> 1]);
	if (is_compared)
		add_operation(p, BPF_OR, R_ARG1, R_ARG2);
}

/*
 * Generate code that records the stack pointer of a call that the allocator itself makes.
 * The BPF program of the called function recognizes the call by this value, and does not
 * count it.
 */
static void add_mark(struct count_bpf_program *p, const struct count_point *point)
{
	size_t jump = 0;

	if (point->branch.kind == X86_JUMP_IF) {
		add_condition(p, point->branch.condition);
		jump = add_jump(p, point->branch.condition & 1 ? BPF_JNE : BPF_JEQ,
				R_ARG1, 0);
	}
	add_load(p, R_ARG1, R_CONTEXT, CONTEXT_STACK);
	if (point->branch.kind == X86_CALL)
		add_immediate(p, BPF_SUB, R_ARG1, sizeof(uint64_t));
	add_store(p, R_VALUE, offsetof(struct count_bpf_value, inner_stack_addr), R_ARG1);
	add_store_value(p, R_VALUE, offsetof(struct count_bpf_value, inner_point),
			(int32_t)point->target);
	if (point->branch.kind == X86_JUMP_IF)
		resolve_jump(p, jump);
}

static bool is_jump_target(const struct count_points *points, size_t number)
{
	for (size_t i = 0; i < points->count; i++)
		if (points->items[i].target == number)
			return true;
	return false;
}

/*
 * Generate the BPF program for a breakpoint at the start of a function. The program
 * counts the call unless the allocator itself made it.
 */
static void add_function(struct count_bpf_program *p, const struct count_points *points,
			 size_t number)
{
	const struct count_point *point = &points->items[number];
	bool may_be_inner = is_jump_target(points, number);
	size_t jump = 0;

	add_load(p, R_STACK, R_CONTEXT, CONTEXT_STACK);
	if (point->pushed_bytes > 0)
		add_immediate(p, BPF_ADD, R_STACK, (int32_t)point->pushed_bytes);
	if (may_be_inner)
		add_is_inner(p, number);
	if (point->target != COUNT_POINT_NONE)
		add_mark(p, point);
	if (may_be_inner)
		jump = add_jump(p, BPF_JNE, R_TID, 0);
	add_counting(p, point);
	if (may_be_inner)
		resolve_jump(p, jump);
}

void count_bpf_program_make(const struct count_points *points, size_t number, int map_fd,
			    struct count_bpf_program *ret)
{
	ret->count = 0;
	add_move(ret, R_CONTEXT, R_ARG1);
	add_find_value(ret, map_fd);
	if (points->items[number].is_inner)
		add_mark(ret, &points->items[number]);
	else
		add_function(ret, points, number);
	add_end(ret);
}
