/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace - hold and change one thread of another process with ptrace. A dedicated thread
 * calls all these functions: when it ends, the kernel releases the threads that it holds.
 * PTRACE_O_EXITKILL is never set.
 *
 * memstate waits for stops with WNOWAIT, which leaves each stop pending. If memstate is
 * killed before it has resumed a thread, the kernel therefore still delivers the thread's
 * pending signal.
 *
 * All functions return 0 or -errno. -ESRCH means that the traced thread has ended, or is
 * not stopped.
 */
#ifndef MS_TRACEE_PTRACE_TRACE_H
#define MS_TRACEE_PTRACE_TRACE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Run `work` in a new thread that can use ptrace(2), and return the result of `work`.
 * Errors: -ETIMEDOUT if the kernel blocked the thread past limit_ns; -EUSERS if the limit
 * on processes does not allow another thread or the watchdog; -ENOBUFS if there is not
 * enough address space or memory for them. The watchdog continues memstate if a signal
 * stops it during a hold; see hold.h.
 */
int trace_run(int (*work)(void *context), void *context, uint64_t limit_ns);

/*
 * Store the id of the calling thread, which must be the tracing thread, in *word, and
 * make the kernel change *word when the thread ends for any reason. If `word` is NULL,
 * cancel an earlier call. Return the thread's id.
 */
uint32_t trace_sign(uint32_t *word);

enum trace_event {
	TRACE_STOPPED,	  /* the thread stopped because of trace_interrupt() */
	TRACE_GROUP_STOP, /* SIGSTOP or a similar signal stopped the whole process */
	TRACE_SYSCALL,	  /* the thread stopped before or after a system call */
	TRACE_SIGNAL,	  /* the thread stopped for the pending signal in *ret_signal */
	TRACE_ENDED,
};

enum trace_how {
	TRACE_ON, /* continue the thread until the next event */
	/*
	 * continue the thread until the next event, or the beginning or end of a system
	 * call
	 */
	TRACE_TO_SYSCALL,
};

int trace_seize(int tid);
int trace_interrupt(int tid);

/*
 * Wait for the thread's next stop. Return -ETIMEDOUT if the thread is still running
 * after limit_ns.
 */
int trace_wait(int tid, uint64_t limit_ns, enum trace_event *ret, int *ret_signal);

/* Continue the thread, and deliver the signal unless it is 0. */
int trace_resume(int tid, enum trace_how how, int signal);
int trace_detach(int tid, int signal);

/*
 * Read or write the general registers, as struct user_regs_struct. Return -EOPNOTSUPP if
 * the thread's registers have another size.
 */
int trace_get_registers(int tid, void *ret, size_t size);
int trace_set_registers(int tid, const void *registers, size_t size);

/* Read or write all registers except the general registers, in the kernel's format. */
int trace_get_vectors(int tid, void *ret, size_t room, size_t *ret_size);
int trace_set_vectors(int tid, const void *vectors, size_t size);

int trace_get_mask(int tid, uint64_t *ret);
int trace_set_mask(int tid, uint64_t mask);

/*
 * Store the address of the thread's struct rseq, or 0 if the thread has not registered
 * one. Return -EOPNOTSUPP before Linux 5.13.
 */
int trace_get_rseq(int tid, uint64_t *ret_addr);

/*
 * Read or write a range of memory. Return -EFAULT if part of the range cannot be
 * accessed. In a tracing thread, return -ETIMEDOUT if the access hangs in the kernel, for
 * example on a page of a file system that does not respond.
 */
int trace_read_memory(int tid, uint64_t addr, void *to, size_t length);
/*
 * Like trace_read_memory(), but read from an open /proc/PID/mem. Return -ESRCH if its
 * address space no longer exists.
 */
int trace_read_opened(int mem_fd, uint64_t addr, void *to, size_t length);
int trace_write_memory(int tid, uint64_t addr, const void *from, size_t length);

/*
 * Write to private memory of a stopped thread's process, even where the process itself
 * has no write permission. mem_fd is the process's /proc/PID/mem, opened for writing. If
 * the kernel does not allow such a write (proc_mem.force_override), the function uses
 * PTRACE_POKEDATA instead.
 */
int trace_write_protected(int tid, int mem_fd, uint64_t addr, const void *from,
			  size_t length);

#endif
