/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine - how a thread of another process is borrowed: everything that depends on the
 * machine's registers and code.
 *
 * Every change of the registers points the thread at code that ends in rt_sigreturn(2).
 * That call restores the state in which the thread was found, from a frame on the
 * thread's own stack. The thread thus gets back there whenever its tracer ends.
 */
#ifndef MS_PROBE_BORROW_MACHINE_H
#define MS_PROBE_BORROW_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Code to search for in libc. */
const uint8_t *machine_syscall_code(size_t *ret_bytes);
const uint8_t *machine_sigreturn_code(size_t *ret_bytes);

struct machine_state; /* all registers of a thread, and its signal mask */

/*
 * Return whether these words look like those behind the return
 * address of a signal handler.
 */
bool machine_is_handler_frame(const uint64_t *words, size_t count);

/* Where a thread is, or where a signal interrupted it. */
struct machine_place {
	uint64_t code_addr, stack_addr, frame_addr; /* frame_addr is the frame pointer */
};

/*
 * Find where a thread was interrupted. words are those behind the return address of a
 * signal handler; return false if they do not look like that.
 */
bool machine_handler_place(const uint64_t *words, size_t count,
			   struct machine_place *ret);

/* Return whether words[index] is the address to which a signal handler returns. */
bool machine_is_broken_off(const uint64_t *words, size_t count, size_t index);

struct machine_state *machine_state_new(void);
void machine_state_free(struct machine_state *state);

/*
 * Save the state of a stopped thread. Return 0; -EOPNOTSUPP for a thread of
 * another word size; -errno.
 */
int machine_save(int tid, struct machine_state *ret);

uint64_t machine_code_addr(const struct machine_state *state);
uint64_t machine_stack_addr(const struct machine_state *state);
uint64_t machine_tls_addr(const struct machine_state *state);
struct machine_place machine_place(const struct machine_state *state);

/*
 * Return whether the thread blocks signals that only libc itself blocks, while it is at
 * work; no program can block them through libc.
 */
bool machine_blocks_libc(const struct machine_state *state);

/*
 * Return the system call that the stop interrupted, and its result so far; false if the
 * thread was in its own code. A call that restart_syscall(2) continues is reported as the
 * original call if that can be determined.
 */
bool machine_syscall(const struct machine_state *state, long *ret_number,
		     long *ret_result);

/* Return the address and the length of the instruction that made that system call. */
uint64_t machine_syscall_site(const struct machine_state *state, size_t *ret_bytes);

/* Set the result that the kernel sees when the thread continues. */
void machine_set_result(struct machine_state *state, long result);

/*
 * Use the state of the same thread from an earlier stop: it may
 * still be in the same call.
 */
void machine_learn(struct machine_state *state, const struct machine_state *earlier);

/* Have an interrupted sleep start again: the kernel has forgotten how far it had come. */
void machine_begin_again(struct machine_state *state);

#define MACHINE_FRAME_MAX 24576

/*
 * Write the frame that restores state, and the address on the thread's stack where it
 * belongs. Return its size, or 0 if it exceeds MACHINE_FRAME_MAX.
 */
size_t machine_frame(const struct machine_state *state, uint64_t sigreturn_addr,
		     uint8_t ret[MACHINE_FRAME_MAX], uint64_t *ret_addr);

/* The code to run. */
struct machine_code {
	uint64_t syscall_addr; /* a syscall instruction followed by a return */
	uint64_t frame_addr;
	uint64_t stub_addr;  /* address of machine_stub() in the process, once written */
	uint64_t order_addr; /* address of the stub's struct machine_order */
};

/*
 * Point the thread at a system call that returns to the frame. The
 * signal mask is not changed.
 */
int machine_begin_syscall(int tid, const struct machine_state *state,
			  const struct machine_code *code, const uint64_t call[7]);

/*
 * Return 1 with *ret_result if the thread, stopped at the start or end of a system
 * call, is in call `number` of code; 0 if not, as a handler that runs meanwhile
 * makes other calls; or -errno.
 */
int machine_is_at_syscall(int tid, const struct machine_code *code, long number,
			  long *ret_result);

/*
 * The parameters of the stub, in private memory that the target can only read. The stub
 * attaches the page if page_segment names one, maps memory for the stacks, and calls
 * function_addr. Then it waits until memstate stops the thread, as long as the word at
 * tracer_now_addr equals tracer, and for at most a second.
 */
struct machine_order {
	int64_t page_segment; /* -1: the page is already mapped */
	uint64_t page_addr;
	uint64_t stack_addr, stack_bytes; /* replaces what is mapped there */
	uint64_t call_stack_addr;	  /* end of the stack on which the call runs */
	uint64_t no_fork_addr, no_fork_bytes; /* not inherited by children */
	uint64_t function_addr, arguments[4];
	uint64_t tracer, tracer_now_addr;
};

/* The stub's answer, below the frame. */
struct machine_answer {
	int64_t result; /* result of the call, or -errno */
	uint64_t is_done;
};

const uint8_t *machine_stub(size_t *ret_bytes);
int machine_begin_stub(int tid, const struct machine_state *state,
		       const struct machine_code *code);

/*
 * Return 1 if the thread is in the code it was pointed at, 0 if it has left that
 * code on its own, or -errno.
 */
int machine_is_borrowed(int tid, const struct machine_code *code);

/* Return the address of the stub's answer. */
uint64_t machine_answer_addr(const struct machine_code *code);

/*
 * Restore the thread, in this order: between the two calls it would still go through the
 * frame. It must have been stopped by trace_interrupt(): only then does the kernel resume
 * an interrupted system call.
 */
int machine_restore_rest(int tid, const struct machine_state *state);
int machine_restore_registers(int tid, const struct machine_state *state);

/*
 * Write a jump through a word that holds the target. distance: address of the word, minus
 * that of the jump. Return the length of the jump.
 */
#define MACHINE_JUMP_MAX 16
size_t machine_jump(int32_t distance, uint8_t ret[MACHINE_JUMP_MAX]);

/* Block all signals except those that libc's threads send to each other. */
int machine_block_signals(int tid);

#endif
