/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count_bpf_program.h"

#include <assert.h>
#include <stdbool.h>

/*
 * Registers. 1 to 5 are arguments of the kernel's functions, which return in 0; all of these
 * are lost in a call. 10 is the end of the stack.
 */
enum {
	R_RESULT = BPF_REG_0,
	R_ARG1 = BPF_REG_1,
	R_ARG2 = BPF_REG_2,
	R_ARG3 = BPF_REG_3,
	R_ARG4 = BPF_REG_4,
	R_SPARE = BPF_REG_5,
	R_CONTEXT = BPF_REG_6, /* the registers of the thread */
	R_VALUE = BPF_REG_7,   /* where it is counted */
	R_RETURN = BPF_REG_8,  /* where the function returns to */
	R_STACK = BPF_REG_9,   /* the stack pointer that it began with */
	R_FRAME = BPF_REG_10,
};

/* What the program has on its stack. */
enum {
	FRAME_TID = -8,
	FRAME_WORD = -16,
	FRAME_VALUE = -16 - (int)sizeof(struct count_bpf_value),
};

/* The context: struct pt_regs, struct user_pt_regs. */
#if defined(__x86_64__)
enum { CONTEXT_ARG1 = 112, CONTEXT_ARG2 = 104, CONTEXT_ARG3 = 96, CONTEXT_STACK = 152 };
#elif defined(__aarch64__)
enum { CONTEXT_ARG1 = 0, CONTEXT_ARG2 = 8, CONTEXT_ARG3 = 16, CONTEXT_STACK = 248, CONTEXT_RETURN = 240 };
#else
enum { CONTEXT_ARG1, CONTEXT_ARG2, CONTEXT_ARG3, CONTEXT_STACK, CONTEXT_RETURN };
#endif

/* MALLOC_ALIGNMENT of glibc: what is to be aligned no better is malloc's own work. */
#define ALIGNMENT_OF_MALLOC 16

static const int context_args[] = { CONTEXT_ARG1, CONTEXT_ARG2, CONTEXT_ARG3 };

#define NO_ARG -1

/* Which arguments are what. */
static const struct {
	int size, count, align, block; /* of context_args, or NO_ARG */
	unsigned int passed_calls; /* 1 << call: it may be passed on to */
} functions[CALL_COUNT_] = {
	[CALL_MALLOC] = { 0, NO_ARG, NO_ARG, NO_ARG, 0 },
	[CALL_FREE] = { NO_ARG, NO_ARG, NO_ARG, 0, 0 },
	[CALL_CALLOC] = { 1, 0, NO_ARG, NO_ARG, 0 },
	[CALL_REALLOC] = { 1, NO_ARG, NO_ARG, 0, 1 << CALL_MALLOC },
	[CALL_REALLOCARRAY] = { 2, 1, NO_ARG, 0, 1 << CALL_REALLOC },
	[CALL_POSIX_MEMALIGN] = { 2, NO_ARG, 1, NO_ARG, 0 },
	[CALL_ALIGNED_ALLOC] = { 1, NO_ARG, 0, NO_ARG, 1 << CALL_MALLOC },
	[CALL_MEMALIGN] = { 1, NO_ARG, 0, NO_ARG, 1 << CALL_MALLOC | 1 << CALL_ALIGNED_ALLOC },
	[CALL_VALLOC] = { 0, NO_ARG, NO_ARG, NO_ARG, 0 },
	[CALL_PVALLOC] = { 0, NO_ARG, NO_ARG, NO_ARG, 0 },
	[CALL_NEW] = { 0, NO_ARG, NO_ARG, NO_ARG, 1 << CALL_MALLOC | 1 << CALL_NEW },
	[CALL_DELETE] = { NO_ARG, NO_ARG, NO_ARG, 0, 1 << CALL_FREE | 1 << CALL_DELETE },
};

static void add(struct count_bpf_program *p, struct bpf_insn insn)
{
	assert(p->count < COUNT_BPF_INSTRUCTION_MAX);
	p->items[p->count++] = insn;
}

static void add_move(struct count_bpf_program *p, unsigned int to, unsigned int from)
{
	add(p, (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = to & 15u,
				  .src_reg = from & 15u });
}

static void add_immediate(struct count_bpf_program *p, uint8_t operation, unsigned int to, int32_t value)
{
	add(p, (struct bpf_insn){ .code = (uint8_t)(BPF_ALU64 | BPF_K | operation),
				  .dst_reg = to & 15u, .imm = value });
}

static void add_operation(struct count_bpf_program *p, uint8_t operation, unsigned int to, unsigned int from)
{
	add(p, (struct bpf_insn){ .code = (uint8_t)(BPF_ALU64 | BPF_X | operation),
				  .dst_reg = to & 15u, .src_reg = from & 15u });
}

static void add_load(struct count_bpf_program *p, unsigned int to, unsigned int from, size_t offset)
{
	add(p, (struct bpf_insn){ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = to & 15u,
				  .src_reg = from & 15u, .off = (int16_t)offset });
}

static void add_store(struct count_bpf_program *p, unsigned int to, int offset, unsigned int from)
{
	add(p, (struct bpf_insn){ .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = to & 15u,
				  .src_reg = from & 15u, .off = (int16_t)offset });
}

static void add_store_value(struct count_bpf_program *p, unsigned int to, int offset, int32_t value)
{
	add(p, (struct bpf_insn){ .code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = to & 15u,
				  .off = (int16_t)offset, .imm = value });
}

/* *(to + offset) += from, at once: an array's value is shared by all processors. */
static void add_sum(struct count_bpf_program *p, unsigned int to, size_t offset, unsigned int from)
{
	add(p, (struct bpf_insn){ .code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = to & 15u,
				  .src_reg = from & 15u, .off = (int16_t)offset, .imm = BPF_ADD });
}

static void add_wide(struct count_bpf_program *p, unsigned int to, unsigned int kind, uint64_t value)
{
	add(p, (struct bpf_insn){ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = to & 15u,
				  .src_reg = kind & 15u, .imm = (int32_t)(uint32_t)value });
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

/* Jumps forward return where they are, so that land() can say where to. */
static size_t add_jump(struct count_bpf_program *p, uint8_t condition, unsigned int left, int32_t right)
{
	add(p, (struct bpf_insn){ .code = (uint8_t)(BPF_JMP | BPF_K | condition),
				  .dst_reg = left & 15u, .imm = right });
	return p->count - 1;
}

static size_t add_jump_by(struct count_bpf_program *p, uint8_t condition, unsigned int left, unsigned int right)
{
	add(p, (struct bpf_insn){ .code = (uint8_t)(BPF_JMP | BPF_X | condition),
				  .dst_reg = left & 15u, .src_reg = right & 15u });
	return p->count - 1;
}

static void land(struct count_bpf_program *p, size_t jump)
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
	add_load(p, to, R_CONTEXT, (size_t)context_args[arg]);
}

static void add_lookup(struct count_bpf_program *p, int map_fd, int key_offset)
{
	add_map(p, R_ARG1, map_fd);
	add_move(p, R_ARG2, R_FRAME);
	add_immediate(p, BPF_ADD, R_ARG2, key_offset);
	add_call(p, BPF_FUNC_map_lookup_elem);
}

/* The first call of a thread: it gets a place, if there is one. */
static void add_new_thread(struct count_bpf_program *p, int threads_fd)
{
	for (size_t i = 0; i < sizeof(struct count_bpf_value); i += sizeof(uint64_t))
		add_store_value(p, R_FRAME, FRAME_VALUE + (int)i, 0);
	add_move(p, R_ARG1, R_FRAME);
	add_immediate(p, BPF_ADD, R_ARG1,
		      FRAME_VALUE + (int)offsetof(struct count_bpf_value, name));
	add_immediate(p, BPF_MOV, R_ARG2, COUNT_BPF_NAME_BYTES);
	add_call(p, BPF_FUNC_get_current_comm);
	add_map(p, R_ARG1, threads_fd);
	add_move(p, R_ARG2, R_FRAME);
	add_immediate(p, BPF_ADD, R_ARG2, FRAME_TID);
	add_move(p, R_ARG3, R_FRAME);
	add_immediate(p, BPF_ADD, R_ARG3, FRAME_VALUE);
	add_immediate(p, BPF_MOV, R_ARG4, BPF_NOEXIST);
	add_call(p, BPF_FUNC_map_update_elem);
}

/* R_VALUE: the thread's, or that of all without a place. */
static void add_find_value(struct count_bpf_program *p, int threads_fd, int rest_fd)
{
	size_t found, made, found_rest;

	add_call(p, BPF_FUNC_get_current_pid_tgid);
	add(p, (struct bpf_insn){ .code = BPF_STX | BPF_MEM | BPF_W, .dst_reg = R_FRAME,
				  .src_reg = R_RESULT, .off = FRAME_TID });
	add_lookup(p, threads_fd, FRAME_TID);
	found = add_jump(p, BPF_JNE, R_RESULT, 0);
	add_new_thread(p, threads_fd);
	add_lookup(p, threads_fd, FRAME_TID);
	made = add_jump(p, BPF_JNE, R_RESULT, 0);
	add(p, (struct bpf_insn){ .code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = R_FRAME,
				  .off = FRAME_WORD });
	add_lookup(p, rest_fd, FRAME_WORD);
	found_rest = add_jump(p, BPF_JNE, R_RESULT, 0);
	add_end(p);
	land(p, found);
	land(p, made);
	land(p, found_rest);
	add_move(p, R_VALUE, R_RESULT);
}

/* R_STACK, R_RETURN as they were when the function was called. */
static void add_find_caller(struct count_bpf_program *p, const struct count_point *point)
{
	add_load(p, R_STACK, R_CONTEXT, CONTEXT_STACK);
	if (point->pushed_bytes > 0)
		add_immediate(p, BPF_ADD, R_STACK, (int32_t)point->pushed_bytes);
#if defined(__x86_64__)
	/* what cannot be read is 0 */
	add_move(p, R_ARG1, R_FRAME);
	add_immediate(p, BPF_ADD, R_ARG1, FRAME_WORD);
	add_immediate(p, BPF_MOV, R_ARG2, sizeof(uint64_t));
	add_move(p, R_ARG3, R_STACK);
	add_call(p, BPF_FUNC_probe_read_user);
	add_load(p, R_RETURN, R_FRAME, (size_t)FRAME_WORD);
#else
	add_load(p, R_RETURN, R_CONTEXT, CONTEXT_RETURN);
#endif
}

/* Go on only if the call does not come from the allocator itself. */
static void add_leave_if_inner(struct count_bpf_program *p, const struct count_file *file)
{
	size_t below, above;

	if (file->inner_start_addr >= file->inner_end_addr)
		return;
	add_wide(p, R_ARG1, 0, file->inner_start_addr);
	below = add_jump_by(p, BPF_JLT, R_RETURN, R_ARG1);
	add_wide(p, R_ARG1, 0, file->inner_end_addr);
	above = add_jump_by(p, BPF_JGE, R_RETURN, R_ARG1);
	add_end(p);
	land(p, below);
	land(p, above);
}

/* R_SPARE: what a call asks for, and the one that it is passed on to too. */
static void add_what(struct count_bpf_program *p, enum counted_call call, enum counted_call as)
{
	bool by_block = as == CALL_REALLOC || as == CALL_FREE || as == CALL_DELETE;

	add_arg(p, R_SPARE, by_block ? functions[call].block : functions[call].size);
}

/* R_ARG1: 1 if the call before passed on this one, so that it is counted already; else 0. */
static void add_find_passed(struct count_bpf_program *p, enum counted_call call)
{
	size_t jumps[4];

	add_immediate(p, BPF_MOV, R_ARG1, 0);
	add_load(p, R_ARG2, R_VALUE, offsetof(struct count_bpf_value, passed_calls));
	add_immediate(p, BPF_AND, R_ARG2, 1 << call);
	jumps[0] = add_jump(p, BPF_JEQ, R_ARG2, 0);
	add_load(p, R_ARG2, R_VALUE, offsetof(struct count_bpf_value, passed_stack_addr));
	jumps[1] = add_jump_by(p, BPF_JNE, R_ARG2, R_STACK);
	add_load(p, R_ARG2, R_VALUE, offsetof(struct count_bpf_value, passed_return_addr));
	jumps[2] = add_jump_by(p, BPF_JNE, R_ARG2, R_RETURN);
	add_load(p, R_ARG2, R_VALUE, offsetof(struct count_bpf_value, passed_what));
	add_what(p, call, call);
	jumps[3] = add_jump_by(p, BPF_JNE, R_ARG2, R_SPARE);
	add_immediate(p, BPF_MOV, R_ARG1, 1);
	for (size_t i = 0; i < 4; i++)
		land(p, jumps[i]);
}

/* Remember what may be passed on. R_ARG1 is kept. */
static void add_pass_on(struct count_bpf_program *p, enum counted_call call, unsigned int calls)
{
	size_t jump = 0;
	bool has_jump = true;

	add_immediate(p, BPF_MOV, R_ARG2, (int32_t)calls);
	if (functions[call].align != NO_ARG) {
		add_arg(p, R_ARG3, functions[call].align);
		jump = add_jump(p, BPF_JLE, R_ARG3, ALIGNMENT_OF_MALLOC);
		add_immediate(p, BPF_AND, R_ARG2, ~(1 << CALL_MALLOC));
	} else if (call == CALL_REALLOC) {
		add_arg(p, R_ARG3, functions[call].block);
		jump = add_jump(p, BPF_JEQ, R_ARG3, 0);
		add_immediate(p, BPF_MOV, R_ARG2, 0);
	} else {
		has_jump = false;
	}
	if (has_jump)
		land(p, jump);
	add_store(p, R_VALUE, offsetof(struct count_bpf_value, passed_calls), R_ARG2);
	add_store(p, R_VALUE, offsetof(struct count_bpf_value, passed_stack_addr), R_STACK);
	add_store(p, R_VALUE, offsetof(struct count_bpf_value, passed_return_addr), R_RETURN);
	add_what(p, call,
		 call == CALL_REALLOCARRAY ? CALL_REALLOC
					   : call == CALL_DELETE ? CALL_FREE : CALL_MALLOC);
	add_store(p, R_VALUE, offsetof(struct count_bpf_value, passed_what), R_SPARE);
}

/* A call that was passed on is not counted again. */
static void add_passing(struct count_bpf_program *p, const struct count_points *points,
			const struct count_point *point)
{
	const struct count_file *file = &points->files[point->file];
	unsigned int calls = file->passes_on || point->call == CALL_REALLOCARRAY
				     ? functions[point->call].passed_calls
				     : 0;
	bool is_passed_on = point->call == CALL_REALLOC || point->call == CALL_FREE ||
			    point->call == CALL_MALLOC || point->call == CALL_ALIGNED_ALLOC ||
			    point->call == CALL_NEW || point->call == CALL_DELETE;
	size_t jump;

	if (is_passed_on)
		add_find_passed(p, point->call);
	if (calls != 0)
		add_pass_on(p, point->call, calls);
	else
		add_store_value(p, R_VALUE, offsetof(struct count_bpf_value, passed_calls), 0);
	if (!is_passed_on)
		return;
	jump = add_jump(p, BPF_JEQ, R_ARG1, 0);
	add_end(p);
	land(p, jump);
}

/* R_SPARE = count * size. Leaves if that is more than a number can be: the call fails. */
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
	land(p, small);
	land(p, zero);
	land(p, fits);
}

static void add_counting(struct count_bpf_program *p, enum counted_call call)
{
	size_t negative;

	add_immediate(p, BPF_MOV, R_ARG1, 1);
	add_sum(p, R_VALUE, offsetof(struct count_bpf_value, calls) + call * sizeof(uint64_t),
		R_ARG1);
	if (functions[call].size == NO_ARG)
		return;
	add_arg(p, R_SPARE, functions[call].size);
	if (functions[call].count != NO_ARG)
		add_product(p, functions[call].count);
	/* more than an allocator can give */
	negative = add_jump(p, BPF_JSLT, R_SPARE, 0);
	add_sum(p, R_VALUE, offsetof(struct count_bpf_value, requested_bytes), R_SPARE);
	land(p, negative);
}

void count_bpf_program_make(const struct count_points *points, const struct count_point *point,
			    int threads_fd, int rest_fd, struct count_bpf_program *ret)
{
	ret->count = 0;
	add_move(ret, R_CONTEXT, R_ARG1);
	add_find_value(ret, threads_fd, rest_fd);
	add_find_caller(ret, point);
	add_leave_if_inner(ret, &points->files[point->file]);
	add_passing(ret, points, point);
	add_counting(ret, point->call);
	add_end(ret);
}
