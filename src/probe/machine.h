/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine - how a thread of another process is borrowed: all that knows the machine's
 * registers and code.
 *
 * Every change of registers points the thread at code that by itself ends in
 * rt_sigreturn(2) to the state it was found in, which a frame on its own stack keeps. So
 * it gets back there whenever its tracer ends.
 */
#ifndef MS_PROBE_MACHINE_H
#define MS_PROBE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What libc's code is searched for. */
const uint8_t *machine_syscall_code(size_t *ret_bytes);
const uint8_t *machine_sigreturn_code(size_t *ret_bytes);

struct machine_state; /* all registers of a thread, and its signal mask */

/* Do these words look like those behind the return address of a signal handler? */
bool machine_is_handler_frame(const uint64_t *words, size_t count);

/* Where a thread is, or was when a signal interrupted it. */
struct machine_place {
	uint64_t code_addr, stack_addr, frame_addr; /* the last one is the frame pointer */
};

/*
 * words are those behind the return address of a signal handler: where its thread was
 * interrupted. Returns false if they do not look like that.
 */
bool machine_handler_place(const uint64_t *words, size_t count, struct machine_place *ret);

/* Is words[index] where a handler goes back to? Of what broke off code at that address. */
bool machine_is_broken_off(const uint64_t *words, size_t count, size_t index);

struct machine_state *machine_state_new(void);
void machine_state_free(struct machine_state *state);

/* Of a thread that stands. Returns 0; -EOPNOTSUPP for one of another word size; -errno. */
int machine_save(int tid, struct machine_state *ret);

uint64_t machine_code_addr(const struct machine_state *state);
uint64_t machine_stack_addr(const struct machine_state *state);
uint64_t machine_tls_addr(const struct machine_state *state);
struct machine_place machine_place(const struct machine_state *state);

/*
 * Signals that libc blocks only while it is at work itself, and that no program can block
 * through it.
 */
bool machine_blocks_libc(const struct machine_state *state);

/*
 * The system call that the stop broke off, and its result so far; false if the thread was
 * in its own code. One that is gone on with by restart_syscall(2) is the one that it
 * began as, as far as that can be told.
 */
bool machine_syscall(const struct machine_state *state, long *ret_number, long *ret_result);

/* Where the code is that began that system call, and how many bytes it has. */
uint64_t machine_syscall_site(const struct machine_state *state, size_t *ret_bytes);

/* The kernel is to be told this result when the thread goes on. */
void machine_set_result(struct machine_state *state, long result);

/* What was found of the same thread at an earlier stop: it may be in the same call still. */
void machine_learn(struct machine_state *state, const struct machine_state *earlier);

/* The kernel does not know any more how far a sleep had come: it is to begin again. */
void machine_begin_again(struct machine_state *state);

#define MACHINE_FRAME_MAX 24576

/*
 * The frame that leads back to state: where on the thread's stack it belongs, and its
 * bytes. 0 if it has more than MACHINE_FRAME_MAX.
 */
size_t machine_frame(const struct machine_state *state, uint64_t sigreturn_addr,
		     uint8_t ret[MACHINE_FRAME_MAX], uint64_t *ret_addr);

/* What is to be run. */
struct machine_code {
	uint64_t syscall_addr; /* a system call and a return */
	uint64_t frame_addr;
	uint64_t stub_addr;	 /* of machine_stub(), once it is there */
	uint64_t order_addr; /* of struct machine_order, for it */
};

/*
 * Point the thread at a system call, at the return to the frame behind it. Its mask is
 * not changed.
 */
int machine_begin_syscall(int tid, const struct machine_state *state,
			  const struct machine_code *code, const uint64_t call[7]);

/*
 * Is the thread, which stands at the begin or the end of a system call, in that of code,
 * number? Returns 1 with *ret_result, 0, or -errno: a handler that runs meanwhile has
 * others.
 */
int machine_is_at_syscall(int tid, const struct machine_code *code, long number, long *ret_result);

/*
 * What the stub is told, in private memory that the target can only read. The stub
 * attaches the page if page_segment names one, maps memory for the stacks, calls
 * function_addr, and then waits until memstate stops the thread: while the word at
 * tracer_now_addr is tracer, and for at most a second.
 */
struct machine_order {
	int64_t page_segment; /* -1: the page is mapped already */
	uint64_t page_addr;
	uint64_t stack_addr, stack_bytes;   /* replaces what is mapped there */
	uint64_t call_stack_addr;	    /* end of the stack that the call runs on */
	uint64_t no_fork_addr, no_fork_bytes; /* not inherited by children */
	uint64_t function_addr, arguments[4];
	uint64_t tracer, tracer_now_addr;
};

/* What it answers, next to its frame. */
struct machine_answer {
	int64_t result; /* of the call, or -errno */
	uint64_t is_done;
};

const uint8_t *machine_stub(size_t *ret_bytes);
int machine_begin_stub(int tid, const struct machine_state *state,
		       const struct machine_code *code);

/* Is it in the code that it was pointed at? 1, 0: it is on its way by itself, or -errno. */
int machine_is_borrowed(int tid, const struct machine_code *code);

/* Where the stub answers. */
uint64_t machine_answer_addr(const struct machine_code *code);

/*
 * The way out, in this order: between the two the thread still goes through the frame. It
 * has to have stopped as trace_interrupt() asked: only then does the kernel go on with a
 * system call that was broken off.
 */
int machine_restore_rest(int tid, const struct machine_state *state);
int machine_restore_registers(int tid, const struct machine_state *state);

/*
 * A jump to where the word says that is so many bytes from it on. Returns how many bytes
 * it has.
 */
#define MACHINE_JUMP_MAX 16
size_t machine_jump(int32_t distance, uint8_t ret[MACHINE_JUMP_MAX]);

/* No signal but those that libc's own threads need from each other. */
int machine_block_signals(int tid);

#endif
