/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "tracee/ptrace/trace.h"

#if defined(__x86_64__)

#	include <sys/syscall.h>
#	include <sys/user.h>

/*
 * Results of interrupted system calls, which only a tracer sees (include/linux/errno.h
 * in the kernel).
 */
#	define RESTART_FIRST (-516) /* the kernel's ERESTART_RESTARTBLOCK */
#	define RESTART_NO_INTR (-513)
#	define RESTART_LAST (-512) /* the kernel's ERESTARTSYS */

#	define CODE_64_BITS 0x33 /* value of the cs register for 64-bit code */
#	define RED_ZONE_BYTES 128
#	define FLAG_TRAP 0x100
#	define FLAGS_PLAIN 0x202
#	define SYSCALL_BYTES 2
#	define MOV_EAX 0xb8

/*
 * Sleeping system calls that the kernel continues through restart_syscall(2)
 * after an interruption.
 */
static const uint32_t sleeps[] = { SYS_poll, SYS_nanosleep, SYS_clock_nanosleep,
				   SYS_futex };

/* Layout of the XSAVE area (vector registers) in its standard format. */
#	define VECTORS_MAX 16384
#	define FXSAVE_BYTES 512
#	define HEADER_BYTES 64
#	define SOFTWARE_OFFSET 464
#	define MAGIC1 0x46505853u
#	define MAGIC2 0x46505845u
#	define TILE_FEATURES (UINT64_C(3) << 17)
#	define TILE_OFFSET 2752

/*
 * libc's signal SIGSETXID. A thread that calls setuid() holds a lock until all other
 * threads have handled this signal.
 */
#	define SIGNAL_SETXID 33
#	define SIGNAL_CANCEL 32
#	define SIGNAL_BIT(signal) (UINT64_C(1) << ((signal)-1))

struct machine_state {
	struct user_regs_struct regs;
	uint64_t mask;
	/*
	 * number of the system call that the thread makes again after rt_sigreturn(2)
	 * has restored its registers
	 */
	unsigned long long begun_call;
	size_t vectors_bytes;
	uint8_t vectors[VECTORS_MAX];
};

/* The kernel's struct ucontext, including struct sigcontext_64. */
struct kernel_context {
	uint64_t flags, link, stack_addr;
	uint32_t stack_flags, pad;
	uint64_t stack_bytes;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t di, si, bp, bx, dx, ax, cx, sp, ip, eflags;
	uint16_t cs, gs, fs, ss;
	uint64_t err, trap, old_mask, cr2, vectors_addr, reserved[8];
	uint64_t mask;
};
_Static_assert(sizeof(struct kernel_context) == 304, "the kernel's layout");

/*
 * The kernel's struct _fpx_sw_bytes, which describes to rt_sigreturn(2) the vector
 * registers that follow it.
 */
struct software_bytes {
	uint32_t magic1, extended_bytes;
	uint64_t features;
	uint32_t bytes, pad[7];
};
_Static_assert(sizeof(struct software_bytes) == 48, "the kernel's layout");

/* the flags UC_FP_XSTATE, UC_SIGCONTEXT_SS and UC_STRICT_RESTORE_SS */
#	define CONTEXT_FLAGS 7
/*
 * An invalid value for the flags of the signal stack. With this value, rt_sigreturn(2)
 * leaves the signal stack unchanged.
 */
#	define STACK_FLAGS_INVALID 0x7fff

/*
 * The return address of signal handlers alone does not prove that there is a signal
 * frame: a program that installs a handler also writes this address to its stack.
 * Therefore check the words after the return address.
 */
bool machine_is_handler_frame(const uint64_t *words, size_t count)
{
	struct kernel_context context;

	if (count < sizeof(context) / sizeof(*words))
		return false;
	memcpy(&context, words, sizeof(context));
	return context.flags <= CONTEXT_FLAGS && context.link == 0 &&
	       context.cs == CODE_64_BITS;
}

bool machine_handler_place(const uint64_t *words, size_t count, struct machine_place *ret)
{
	struct kernel_context context;

	if (!machine_is_handler_frame(words, count))
		return false;
	memcpy(&context, words, sizeof(context));
	*ret = (struct machine_place){ context.ip, context.sp, context.bp };
	return true;
}

bool machine_is_interrupted(const uint64_t *words, size_t count, size_t index)
{
	const size_t place = offsetof(struct kernel_context, ip) / sizeof(*words);

	return index >= place &&
	       machine_is_handler_frame(words + index - place, count - index + place);
}

struct machine_state *machine_state_new(void)
{
	return xcalloc(1, sizeof(struct machine_state));
}

void machine_state_free(struct machine_state *state)
{
	free(state);
}

/*
 * Return the number of the interrupted system call. The kernel continues an interrupted
 * sleep through restart_syscall(2), but rt_sigreturn(2) discards the data that
 * restart_syscall(2) needs. The thread must therefore repeat the original call. Read its
 * number from the instruction that precedes the call in libc's code, such as mov $7,
 * %eax.
 */
static unsigned long long find_begun_call(int tid, const struct user_regs_struct *regs)
{
	uint8_t code[5];
	uint32_t number;

	if (regs->orig_rax != SYS_restart_syscall ||
	    trace_read_memory(tid, regs->rip - SYSCALL_BYTES - sizeof(code), code,
			      sizeof(code)) < 0 ||
	    code[0] != MOV_EAX)
		return regs->orig_rax;
	memcpy(&number, code + 1, sizeof(number));
	for (size_t i = 0; i < sizeof(sleeps) / sizeof(sleeps[0]); i++)
		if (sleeps[i] == number)
			return number;
	return regs->orig_rax;
}

int machine_save(int tid, struct machine_state *ret)
{
	int r;

	r = trace_get_registers(tid, &ret->regs, sizeof(ret->regs));
	if (r < 0)
		return r;
	if (ret->regs.cs != CODE_64_BITS)
		return -EOPNOTSUPP;
	ret->begun_call = find_begun_call(tid, &ret->regs);
	r = trace_get_vectors(tid, ret->vectors, sizeof(ret->vectors),
			      &ret->vectors_bytes);
	if (r < 0)
		return r;
	/* a full buffer may mean that the vector registers are truncated */
	if (ret->vectors_bytes < FXSAVE_BYTES + HEADER_BYTES ||
	    ret->vectors_bytes >= sizeof(ret->vectors))
		return -EOPNOTSUPP;
	return trace_get_mask(tid, &ret->mask);
}

uint64_t machine_code_addr(const struct machine_state *state)
{
	return state->regs.rip;
}

uint64_t machine_stack_addr(const struct machine_state *state)
{
	return state->regs.rsp;
}

uint64_t machine_tls_addr(const struct machine_state *state)
{
	return state->regs.fs_base;
}

struct machine_place machine_place(const struct machine_state *state)
{
	return (struct machine_place){ state->regs.rip, state->regs.rsp,
				       state->regs.rbp };
}

bool machine_blocks_libc(const struct machine_state *state)
{
	return state->mask & (SIGNAL_BIT(SIGNAL_SETXID) | SIGNAL_BIT(SIGNAL_CANCEL));
}

bool machine_syscall(const struct machine_state *state, long *ret_number,
		     long *ret_result)
{
	if ((long)state->regs.orig_rax < 0)
		return false;
	*ret_number = (long)state->begun_call;
	*ret_result = (long)state->regs.rax;
	return true;
}

uint64_t machine_syscall_site(const struct machine_state *state, size_t *ret_bytes)
{
	*ret_bytes = SYSCALL_BYTES;
	return state->regs.rip - SYSCALL_BYTES;
}

void machine_learn(struct machine_state *state, const struct machine_state *earlier)
{
	const struct user_regs_struct *now = &state->regs, *then = &earlier->regs;

	if (state->begun_call == SYS_restart_syscall && now->rip == then->rip &&
	    now->rsp == then->rsp && now->rdi == then->rdi && now->rsi == then->rsi &&
	    now->rdx == then->rdx && now->r10 == then->r10)
		state->begun_call = earlier->begun_call;
}

void machine_restart_sleep(struct machine_state *state)
{
	long result = (long)state->regs.rax;

	if ((long)state->regs.orig_rax < 0 || result != RESTART_FIRST)
		return;
	state->regs.orig_rax = state->begun_call;
	state->regs.rax = (unsigned long long)RESTART_NO_INTR;
}

void machine_set_result(struct machine_state *state, long result)
{
	state->regs.rax = (unsigned long long)result;
}

/*
 * Return the registers with which the thread repeats an interrupted system call. The
 * kernel itself does not restart a call after rt_sigreturn(2).
 */
static struct user_regs_struct self_restarting(const struct machine_state *state)
{
	struct user_regs_struct regs = state->regs;
	long result = (long)regs.rax;

	if ((long)regs.orig_rax >= 0 && result >= RESTART_FIRST &&
	    result <= RESTART_LAST) {
		regs.rax = state->begun_call;
		regs.rip -= SYSCALL_BYTES;
	}
	regs.orig_rax = (unsigned long long)-1;
	return regs;
}

static void fill_context(const struct machine_state *state, struct kernel_context *c)
{
	struct user_regs_struct regs = self_restarting(state);

	*c = (struct kernel_context){
		.flags = CONTEXT_FLAGS,
		.stack_flags = STACK_FLAGS_INVALID,
		.r8 = regs.r8,
		.r9 = regs.r9,
		.r10 = regs.r10,
		.r11 = regs.r11,
		.r12 = regs.r12,
		.r13 = regs.r13,
		.r14 = regs.r14,
		.r15 = regs.r15,
		.di = regs.rdi,
		.si = regs.rsi,
		.bp = regs.rbp,
		.bx = regs.rbx,
		.dx = regs.rdx,
		.ax = regs.rax,
		.cx = regs.rcx,
		.sp = regs.rsp,
		.ip = regs.rip,
		.eflags = regs.eflags,
		.cs = (uint16_t)regs.cs,
		.ss = (uint16_t)regs.ss,
		.mask = state->mask,
	};
}

static uint64_t features_of(const struct machine_state *state, size_t offset)
{
	uint64_t features;

	memcpy(&features, state->vectors + offset, sizeof(features));
	return features;
}

/*
 * Return the size of the vector registers in the signal frame. Include AMX tiles only
 * if the thread uses them: the kernel rejects a frame that is larger than the
 * thread's own state.
 */
static size_t frame_vectors(const struct machine_state *state, uint64_t *ret_features)
{
	*ret_features = features_of(state, SOFTWARE_OFFSET);
	if (features_of(state, FXSAVE_BYTES) & TILE_FEATURES)
		return state->vectors_bytes;
	*ret_features &= ~TILE_FEATURES;
	return state->vectors_bytes < TILE_OFFSET ? state->vectors_bytes
						  : TILE_OFFSET - 56;
}

size_t machine_frame(const struct machine_state *state, uint64_t sigreturn_addr,
		     uint8_t ret[MACHINE_FRAME_MAX], uint64_t *ret_addr)
{
	struct kernel_context context;
	struct software_bytes software = { .magic1 = MAGIC1 };
	uint32_t magic2 = MAGIC2;
	size_t vectors_bytes = frame_vectors(state, &software.features);
	size_t vectors_offset, total;
	uint64_t context_addr;

	/*
	 * layout of the signal frame: the return address, the context, then the vector
	 * registers, aligned to 64 bytes
	 */
	context_addr = (state->regs.rsp - RED_ZONE_BYTES - vectors_bytes -
			sizeof(magic2) - sizeof(context) - 128) &
		       ~UINT64_C(63);
	vectors_offset = (sizeof(context) + 63) / 64 * 64;
	total = sizeof(uint64_t) + vectors_offset + vectors_bytes + sizeof(magic2);
	if (total > MACHINE_FRAME_MAX)
		return 0;
	memset(ret, 0, total);
	memcpy(ret, &sigreturn_addr, sizeof(uint64_t));
	fill_context(state, &context);
	context.vectors_addr = context_addr + vectors_offset;
	memcpy(ret + sizeof(uint64_t), &context, sizeof(context));
	ret += sizeof(uint64_t) + vectors_offset;
	memcpy(ret, state->vectors, vectors_bytes);
	software.bytes = (uint32_t)vectors_bytes;
	software.extended_bytes = (uint32_t)(vectors_bytes + sizeof(magic2));
	memcpy(ret + SOFTWARE_OFFSET, &software, sizeof(software));
	memcpy(ret + vectors_bytes, &magic2, sizeof(magic2));
	*ret_addr = context_addr - sizeof(uint64_t);
	return total;
}

static struct user_regs_struct call_registers(const struct machine_state *state,
					      const struct machine_code *code,
					      const uint64_t call[7])
{
	struct user_regs_struct regs = state->regs;

	regs.orig_rax = (unsigned long long)-1;
	regs.rax = call[0];
	regs.rdi = call[1];
	regs.rsi = call[2];
	regs.rdx = call[3];
	regs.r10 = call[4];
	regs.r8 = call[5];
	regs.r9 = call[6];
	regs.rip = code->syscall_addr;
	regs.rsp = code->frame_addr;
	regs.eflags &= ~(unsigned long long)FLAG_TRAP;
	return regs;
}

size_t machine_call_frame(const struct machine_state *state,
			  const struct machine_code *code, uint64_t sigreturn_addr,
			  const uint64_t call[7], uint8_t ret[MACHINE_FRAME_MAX],
			  uint64_t *ret_addr)
{
	struct machine_state *at_call = machine_state_new();
	size_t length;

	*at_call = *state;
	at_call->regs = call_registers(state, code, call);
	length = machine_frame(at_call, sigreturn_addr, ret, ret_addr);
	machine_state_free(at_call);
	return length;
}

int machine_begin_syscall(int tid, const struct machine_state *state,
			  const struct machine_code *code, const uint64_t call[7])
{
	struct user_regs_struct regs = call_registers(state, code, call);

	return trace_set_registers(tid, &regs, sizeof(regs));
}

int machine_is_at_syscall(int tid, const struct machine_code *code, long number,
			  long *ret_result)
{
	struct user_regs_struct regs = { 0 };
	int r = trace_get_registers(tid, &regs, sizeof(regs));

	if (r < 0)
		return r;
	if (regs.rip != code->syscall_addr + SYSCALL_BYTES ||
	    (long)regs.orig_rax != number)
		return 0;
	*ret_result = (long)regs.rax;
	return 1;
}

int machine_is_borrowed(int tid, const struct machine_code *code)
{
	struct user_regs_struct regs = { 0 };
	size_t stub_bytes;
	int r = trace_get_registers(tid, &regs, sizeof(regs));

	if (r < 0)
		return r;
	(void)machine_stub(&stub_bytes);
	return regs.rip == code->syscall_addr + SYSCALL_BYTES ||
	       (code->stub_addr && regs.rip - code->stub_addr < stub_bytes);
}

/*
 * Number of bytes below the signal frame for the stub's answer and for
 * its ppoll(2) timeout.
 */
#	define ANSWER_BYTES 64

uint64_t machine_answer_addr(const struct machine_code *code)
{
	return code->frame_addr - ANSWER_BYTES;
}

int machine_begin_stub(int tid, const struct machine_state *state,
		       const struct machine_code *code)
{
	struct user_regs_struct regs = state->regs;

	regs.orig_rax = (unsigned long long)-1;
	regs.rax = 0;
	regs.rbx = code->order_addr;
	regs.r12 = code->frame_addr + sizeof(uint64_t);
	regs.r13 = machine_answer_addr(code);
	regs.rbp = 0;
	regs.rip = code->stub_addr;
	regs.rsp = regs.r13;
	regs.eflags = FLAGS_PLAIN;
	return trace_set_registers(tid, &regs, sizeof(regs));
}

int machine_restore_vectors_and_mask(int tid, const struct machine_state *state)
{
	int r;

	r = trace_set_vectors(tid, state->vectors, state->vectors_bytes);
	if (r == 0)
		r = trace_set_mask(tid, state->mask);
	return r;
}

int machine_restore_registers(int tid, const struct machine_state *state)
{
	return trace_set_registers(tid, &state->regs, sizeof(state->regs));
}

int machine_block_signals(int tid)
{
	return trace_set_mask(tid, ~SIGNAL_BIT(SIGNAL_SETXID));
}

#endif
