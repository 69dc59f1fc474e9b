/* SPDX-License-Identifier: GPL-2.0-or-later */
/* blocked - what happens to a system call that a stop interrupts. */
#ifndef MS_PROBE_BORROW_BLOCKED_H
#define MS_PROBE_BORROW_BLOCKED_H

enum blocked_kind {
	/* a wait for work: allocators and the dynamic linker never wait there */
	BLOCKED_IDLE,
	BLOCKED_OTHER, /* the call continues as if nothing had happened */
	/* the call continues, but allocators and libc make it while holding a lock */
	BLOCKED_MEMORY,
	/* the program could notice the stop: partial work, or an error */
	BLOCKED_FRAGILE,
};

enum blocked_kind blocked_kind(long number);

/*
 * Return the result to give to the kernel so that it resumes the call unless a handler
 * runs: result itself, or another value for calls that return a plain -EINTR.
 */
long blocked_result(long number, long result);

/* -ERESTARTNOHAND: the call is restarted unless a handler runs. */
#define BLOCKED_AGAIN_UNLESS_HANDLED (-514)

#endif
