/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stop - stop every thread of a process for a moment, and let all of them go again.
 *
 * One thread of ours traces and does nothing else: it never reads the target's memory or
 * any file that could block. The kernel releases the threads that it traces when it ends,
 * so the target runs again however memstate ends. The work is done by a second thread. If
 * that one hangs, the first lets the target go when the time limit is reached.
 */
#ifndef MS_TRACEE_PTRACE_STOP_H
#define MS_TRACEE_PTRACE_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stopped_thread {
	int tid;
	uint64_t code_addr;  /* of the next instruction */
	uint64_t stack_addr; /* stack pointer */
	uint64_t tls_addr;   /* thread pointer: fs_base on x86-64 */
	size_t word_count;   /* how many of the words below are this one's */
};

struct stop {
	struct stopped_thread *threads;
	size_t count;
	/*
	 * Whatever is in the registers of all threads and is not 0, those for vectors
	 * too: an address may be only there. At most STOP_WORDS_MAX per thread, in the
	 * order of the threads.
	 */
	uint64_t *words;
	size_t word_count;
	uint64_t deadline_ns;	   /* monotonic clock: the work must have ended by then */
	struct stopped_work *held; /* for stop_write_word() */
};

#define STOP_WORDS_MAX 512

struct stop_request {
	int pid;
	int task_fd;	   /* the process's task directory in /proc */
	uint64_t limit_ns; /* longest pause */
	/* The work, while all threads are stopped. 0 or -errno. It runs in a thread of its own. */
	int (*work)(void *context, const struct stop *stop);
	void *context;
};

/*
 * Stop all threads, those that appear meanwhile too, do the work, let go. *ret_pause_ns,
 * set in every case, is the time from the first thread stopped to the last let go; 0 if
 * none was. The pause never lasts longer than the limit: the target is let go then, and
 * the result of work that has not ended is -ETIMEDOUT.
 *
 * Returns the result of the work; or -ESRCH; -EPERM (needs the same user, or
 * CAP_SYS_PTRACE, and a kernel.yama.ptrace_scope that allows it); -EBUSY when another
 * tracer is there; -ETIMEDOUT; -EAGAIN when a thread is in a sleep that nothing interrupts
 * (a vfork(), a disk that does not answer); -ESTALE when one did not stay stopped;
 * -EOPNOTSUPP for a program of another word size and on other machines than x86-64;
 * -EUSERS if memstate must not start another thread or process.
 *
 * -ETIME: the work hangs in the kernel. Its thread is abandoned and may go on at any time,
 * so neither *context nor anything that the work uses may ever be changed or freed, unless
 * the work asks stop_is_over() after each call that can hang.
 */
int stop_run(const struct stop_request *request, uint64_t *ret_pause_ns);

/* True once the target has been let go: the work must end, and must not touch its context. */
bool stop_is_over(const struct stop *stop);

/*
 * Called by the work: write a word at an aligned address, also where the process itself may
 * not write. 0; -ETIMEDOUT if the target was let go, in which case nothing is written; or
 * -errno.
 */
int stop_write_word(const struct stop *stop, uint64_t addr, uint64_t word);

#endif
