/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stop - stop all threads of a process for a moment, and release them.
 *
 * One thread of memstate only traces: it never reads the target's memory or a file that
 * could block. When this tracing thread ends, the kernel releases the threads that it
 * traces, so the target continues however memstate ends. A second thread does the work.
 * If the second thread hangs, the tracing thread releases the target at the time limit.
 */
#ifndef MS_TRACEE_PTRACE_STOP_H
#define MS_TRACEE_PTRACE_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stopped_thread {
	int tid;
	uint64_t code_addr;  /* address of the next instruction */
	uint64_t stack_addr; /* value of the stack pointer */
	uint64_t tls_addr;   /* value of the thread pointer, which is fs_base on x86-64 */
	size_t word_count;   /* number of this thread's words in stop.words */
};

struct stop {
	struct stopped_thread *threads;
	size_t count;
	/*
	 * All nonzero words in the registers of all threads, in the order of the threads,
	 * at most STOP_WORDS_MAX per thread. Vector registers are included, because a
	 * vector register may hold the only copy of an address.
	 */
	uint64_t *words;
	size_t word_count;
	/* time (CLOCK_MONOTONIC) by which the work must have ended */
	uint64_t deadline_ns;
	struct stopped_work *held; /* internal state for stop_write_word() */
};

#define STOP_WORDS_MAX 512

struct stop_request {
	int pid;
	int task_fd;	   /* descriptor of the process's task directory in /proc */
	uint64_t limit_ns; /* maximum duration of the pause */
	/*
	 * The function that does the work in a separate thread while all threads of the
	 * target are stopped. Return 0 or -errno.
	 */
	int (*work)(void *context, const struct stop *stop);
	void *context;
};

/*
 * Stop all threads, including those that appear while others are being stopped; do the
 * work; release the threads. The function always sets *ret_pause_ns to the time from the
 * first stop to the last release, or to 0 if no thread was stopped. The pause never
 * exceeds the limit. If the work has not ended at the limit, the target is released, and
 * the result is -ETIMEDOUT.
 *
 * Return the result of the work; or -ESRCH; -EPERM (requires the same user, or
 * CAP_SYS_PTRACE, and a kernel.yama.ptrace_scope that allows tracing); -EBUSY if the
 * process has another tracer; -ETIMEDOUT; -EAGAIN if a thread is in an uninterruptible
 * sleep (a vfork(), a disk that does not answer); -ESTALE if a thread did not stay
 * stopped; -EOPNOTSUPP for a program with another word size, and on machines other than
 * x86-64; -EUSERS if memstate must not start another thread or process; -ENOBUFS if it
 * lacks the address space or memory to start them.
 *
 * -ETIME means that the work hangs in the kernel. Its thread is abandoned, and may
 * continue at any time. The caller must then never change or free *context, or anything
 * else that the work uses, unless the work calls stop_has_ended() after each call that
 * can hang.
 */
int stop_run(const struct stop_request *request, uint64_t *ret_pause_ns);

/*
 * Return true if the target has been released. The work must then end without using its
 * context.
 */
bool stop_has_ended(const struct stop *stop);

/*
 * Write a word at an aligned address, even where the process itself may not write. Only
 * the work function may call this function. Return 0; -ETIMEDOUT if the target was
 * released before the write; or another -errno.
 */
int stop_write_word(const struct stop *stop, uint64_t addr, uint64_t word);

#endif
