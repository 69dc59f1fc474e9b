/* SPDX-License-Identifier: GPL-2.0-or-later */
/* blocked - classify system calls by what happens when a stop interrupts them. */
#ifndef MS_PROBE_BORROW_BLOCKED_H
#define MS_PROBE_BORROW_BLOCKED_H

enum blocked_kind {
	/* a wait for work: allocators and the dynamic linker never make these calls */
	BLOCKED_IDLE,
	BLOCKED_OTHER, /* the call continues as if nothing had happened */
	/*
	 * the call continues, but allocators and libc may make such a call while holding
	 * a lock
	 */
	BLOCKED_MEMORY,
	/* the program could notice the stop: partial work, or an error */
	BLOCKED_FRAGILE,
};

enum blocked_kind blocked_kind(long number);

/*
 * Return the result to store in the thread so that the kernel restarts the call
 * unless a signal handler runs. This is result itself, except for calls that return
 * a plain -EINTR.
 */
long blocked_result(long number, long result);

/* -ERESTARTNOHAND of the kernel: restart the call unless a signal handler runs. */
#define BLOCKED_AGAIN_UNLESS_HANDLED (-514)

#endif
