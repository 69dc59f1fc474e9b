/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine - the architecture-specific part of using a thread of another process:
 * registers and machine code.
 *
 * Whenever memstate changes the registers, the thread runs code that ends in
 * rt_sigreturn(2). That call restores the thread's original state from a signal frame
 * on the thread's own stack. The thread therefore returns to its own code even if
 * memstate is killed.
 */
#ifndef MS_PROBE_BORROW_MACHINE_H
#define MS_PROBE_BORROW_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Return the machine code to search for in libc: a system call, and the return from a
 * signal handler.
 */
const uint8_t *machine_syscall_code(size_t *ret_bytes);
const uint8_t *machine_sigreturn_code(size_t *ret_bytes);

struct machine_state; /* All registers of a thread, and its signal mask. */

/*
 * Return true if these words, which follow a return address on the stack, look like the
 * frame of a signal handler.
 */
bool machine_is_handler_frame(const uint64_t *words, size_t count);

/*
 * The registers that show where a thread is executing, or where a signal interrupted it.
 */
struct machine_place {
	/* program counter, stack pointer and frame pointer */
	uint64_t code_addr, stack_addr, frame_addr;
};

/*
 * Find where a signal interrupted a thread. `words` are the stack words after the return
 * address of the signal handler. Return false if they do not look like a signal frame.
 */
bool machine_handler_place(const uint64_t *words, size_t count,
			   struct machine_place *ret);

/* Return true if words[index] is the address at which a signal interrupted the thread. */
bool machine_is_interrupted(const uint64_t *words, size_t count, size_t index);

struct machine_state *machine_state_new(void);
void machine_state_free(struct machine_state *state);

/*
 * Save the state of a stopped thread. Return 0; -EOPNOTSUPP if the state cannot be
 * saved, for example because the thread executes 32-bit code; or another -errno.
 */
int machine_save(int tid, struct machine_state *ret);

uint64_t machine_code_addr(const struct machine_state *state);
uint64_t machine_stack_addr(const struct machine_state *state);
uint64_t machine_tls_addr(const struct machine_state *state);
struct machine_place machine_place(const struct machine_state *state);

/*
 * Return true if the thread blocks signals that only libc itself can block. libc does so
 * during critical operations.
 */
bool machine_blocks_libc(const struct machine_state *state);

/*
 * If the stop interrupted a system call, store the call's number and its result so far,
 * and return true. If the thread was executing user code, return false. If
 * restart_syscall(2) would continue the call, *ret_number is the original call's number
 * where that can be determined.
 */
bool machine_syscall(const struct machine_state *state, long *ret_number,
		     long *ret_result);

/*
 * Return the address of the instruction that made the interrupted system call. *ret_bytes
 * is the length of the instruction.
 */
uint64_t machine_syscall_site(const struct machine_state *state, size_t *ret_bytes);

/*
 * Set the return value of the interrupted system call. When the thread continues, the
 * kernel decides from this value whether to restart the call.
 */
void machine_set_result(struct machine_state *state, long result);

/*
 * If the thread is still in the same system call as when `earlier` was saved, copy the
 * original number of the call from `earlier`.
 */
void machine_learn(struct machine_state *state, const struct machine_state *earlier);

/*
 * Restart an interrupted sleep with its full time, because the kernel has
 * discarded the remaining time.
 */
void machine_restart_sleep(struct machine_state *state);

#define MACHINE_FRAME_MAX 24576

/*
 * Build the signal frame that restores the thread's state, and store it in `ret`.
 * *ret_addr is the address on the thread's stack to which the caller must write the
 * frame. Return the frame's size, or 0 if it exceeds MACHINE_FRAME_MAX.
 */
size_t machine_frame(const struct machine_state *state, uint64_t sigreturn_addr,
		     uint8_t ret[MACHINE_FRAME_MAX], uint64_t *ret_addr);

struct machine_code;

/*
 * Like machine_frame(), but build a signal frame that makes the thread execute a system
 * call. After the call, the thread returns through the frame at code->frame_addr, so the
 * caller must write the new frame below that address.
 */
size_t machine_call_frame(const struct machine_state *state,
			  const struct machine_code *code, uint64_t sigreturn_addr,
			  const uint64_t call[7], uint8_t ret[MACHINE_FRAME_MAX],
			  uint64_t *ret_addr);

/* Addresses of the code and data that a borrowed thread uses. */
struct machine_code {
	/* address of a syscall instruction that is followed by a return */
	uint64_t syscall_addr;
	uint64_t frame_addr;
	/* address of machine_stub() in the process, once it has been written there */
	uint64_t stub_addr;
	/* address of the struct machine_order that contains the stub's parameters */
	uint64_t order_addr;
};

/*
 * Make the thread execute a system call and then return through the signal frame. The
 * signal mask is not changed.
 */
int machine_begin_syscall(int tid, const struct machine_state *state,
			  const struct machine_code *code, const uint64_t call[7]);

/*
 * Check the system call at whose start or end the thread is stopped. Return 1 with
 * *ret_result if it is system call `number`, made at code->syscall_addr; 0 if it is
 * another call, for example in a signal handler; or -errno.
 */
int machine_is_at_syscall(int tid, const struct machine_code *code, long number,
			  long *ret_result);

/*
 * Parameters of the stub (code that the borrowed thread runs), in private memory that
 * the target can only read. The stub attaches the shared page if page_segment is a
 * System V segment, maps memory for the stacks, and calls function_addr. It then waits
 * until memstate stops the thread, for at most one second, and only while the word at
 * tracer_now_addr equals `tracer`.
 */
struct machine_order {
	/* identifier of a System V segment, or -1 if the page is already mapped */
	int64_t page_segment;
	uint64_t page_addr;
	/*
	 * address range over which the stub maps the new stack,
	 * replacing existing mappings
	 */
	uint64_t stack_addr, stack_bytes;
	/* highest address of the stack on which function_addr is called */
	uint64_t call_stack_addr;
	/* address range that the stub excludes from forked child processes */
	uint64_t no_fork_addr, no_fork_bytes;
	uint64_t function_addr, arguments[4];
	uint64_t tracer, tracer_now_addr;
};

/*
 * The answer of the stub (code that the borrowed thread runs), stored on the thread's
 * stack below the signal frame.
 */
struct machine_answer {
	int64_t result; /* result of the function at function_addr, or -errno */
	uint64_t is_done;
};

const uint8_t *machine_stub(size_t *ret_bytes);
int machine_begin_stub(int tid, const struct machine_state *state,
		       const struct machine_code *code);

/*
 * Return 1 if the thread is executing the code to which memstate has redirected it, 0 if
 * it has already left that code, or -errno.
 */
int machine_is_borrowed(int tid, const struct machine_code *code);

/*
 * Return the address at which the stub (code that the borrowed thread runs) stores its
 * struct machine_answer.
 */
uint64_t machine_answer_addr(const struct machine_code *code);

/*
 * Restore the thread's state: first call machine_restore_vectors_and_mask(), then
 * machine_restore_registers(). If memstate is killed between the two calls, the thread
 * still returns through the signal frame. The thread must have been stopped by
 * trace_interrupt(): only then does the kernel resume an interrupted system call.
 */
int machine_restore_vectors_and_mask(int tid, const struct machine_state *state);
int machine_restore_registers(int tid, const struct machine_state *state);

/*
 * Write a jump whose target address is stored in a word of memory. distance is the
 * address of the word minus the address of the jump. Return the length of the jump.
 */
#define MACHINE_JUMP_MAX 16
size_t machine_jump(int32_t distance, uint8_t ret[MACHINE_JUMP_MAX]);

/* Block all signals except those that libc uses internally between threads. */
int machine_block_signals(int tid);

#endif
