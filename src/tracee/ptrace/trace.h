/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace - one thread of another process, held and changed by ptrace.
 *
 * All of it is done by a thread that does nothing else: the kernel lets go of what it
 * holds when it ends. PTRACE_O_EXITKILL is never set. What a stop is for is looked at and
 * left where it is, so that the kernel still knows of a signal on its way if memstate is
 * killed meanwhile.
 *
 * All functions return 0 or -errno; -ESRCH: the thread is gone, or does not stand.
 */
#ifndef MS_TRACEE_PTRACE_TRACE_H
#define MS_TRACEE_PTRACE_TRACE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Run work in a thread that may trace, and return its result; -ETIMEDOUT if the kernel held
 * the thread past limit_ns; -EUSERS if memstate must not start another thread, or the
 * watchdog (see hold.h), which continues memstate if a signal stops it meanwhile.
 */
int trace_run(int (*work)(void *context), void *context, uint64_t limit_ns);

/*
 * In that thread: the kernel makes *word another number than the thread's when the thread
 * ends, however that comes. NULL: no more. Returns that number.
 */
uint32_t trace_sign(uint32_t *word);

enum trace_event {
	TRACE_STOPPED,	  /* as trace_interrupt() asked */
	TRACE_GROUP_STOP, /* SIGSTOP and its like hold the whole process */
	TRACE_SYSCALL,	  /* before or after a system call */
	TRACE_SIGNAL,	  /* a signal is on its way: *ret_signal */
	TRACE_ENDED,
};

enum trace_how {
	TRACE_ON,	  /* until something happens */
	TRACE_TO_SYSCALL, /* or a system call begins or ends */
};

int trace_seize(int tid);
int trace_interrupt(int tid);

/* Wait for the next stop. -ETIMEDOUT: it runs still. */
int trace_wait(int tid, uint64_t limit_ns, enum trace_event *ret, int *ret_signal);

/* Let it go on, with the signal that was on its way (0: none). */
int trace_resume(int tid, enum trace_how how, int signal);
int trace_detach(int tid, int signal);

/*
 * General registers: struct user_regs_struct. -EOPNOTSUPP if the thread's are of another
 * size.
 */
int trace_get_registers(int tid, void *ret, size_t size);
int trace_set_registers(int tid, const void *registers, size_t size);

/* All others, in the kernel's form. */
int trace_get_vectors(int tid, void *ret, size_t room, size_t *ret_size);
int trace_set_vectors(int tid, const void *vectors, size_t size);

int trace_get_mask(int tid, uint64_t *ret);
int trace_set_mask(int tid, uint64_t mask);

/* Where its struct rseq is, 0: none. -EOPNOTSUPP before Linux 5.13. */
int trace_get_rseq(int tid, uint64_t *ret_addr);

/* All of it, or -EFAULT. In a tracing thread -ETIMEDOUT if the kernel does not answer. */
int trace_read_memory(int tid, uint64_t addr, void *to, size_t length);
int trace_read_opened(int mem_fd, uint64_t addr, void *to, size_t length); /* of mem */
int trace_write_memory(int tid, uint64_t addr, const void *from, size_t length);

/* Of a thread that stands: the word at an address that is a multiple of 8, also one that it may not write itself. */
int trace_write_word(int tid, uint64_t addr, uint64_t word);

/*
 * Write private memory of a stopped thread's process, even where the process itself has no
 * write permission. mem_fd is the process's /proc/PID/mem, opened for writing. Where the
 * kernel restricts that file (proc_mem.force_override), PTRACE_POKEDATA is the fallback.
 */
int trace_write_protected(int tid, int mem_fd, uint64_t addr, const void *from,
			  size_t length);

#endif
