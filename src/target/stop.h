/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stop - hold every thread of a process still for a moment, and let it go again.
 *
 * Done with ptrace by a thread of our own that does nothing else: the kernel lets go of
 * whatever a tracer held when that thread ends, so the target goes on however the work,
 * or memstate, ended.
 */
#ifndef MS_TARGET_STOP_H
#define MS_TARGET_STOP_H

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
	uint64_t deadline_ns; /* monotonic clock: by then the work should be over */
};

#define STOP_WORDS_MAX 512

struct stop_request {
	int pid;
	int task_fd;	   /* the process's task directory in /proc */
	uint64_t limit_ns; /* longest pause wanted */
	/* The work, while all threads stand still. 0 or -errno. Runs in the tracing thread. */
	int (*work)(void *context, const struct stop *stop);
	void *context;
};

/*
 * Stop all threads, those that appear meanwhile too, do the work, let go. *ret_pause_ns,
 * set in every case, is the time from the first thread stopped to the last let go; 0 if
 * none was.
 *
 * Returns what work returned; or -ESRCH; -EPERM (needs the same user, or CAP_SYS_PTRACE,
 * and a kernel.yama.ptrace_scope that allows it); -EBUSY when another tracer is there;
 * -ETIMEDOUT when they did not all stop in time; -EAGAIN when one is in a sleep that
 * nothing interrupts (a vfork(), a disk that does not answer); -ESTALE when one did not
 * stay stopped; -EOPNOTSUPP for a program of another word size and on other machines than
 * x86-64.
 */
int stop_run(const struct stop_request *request, uint64_t *ret_pause_ns);

#endif
