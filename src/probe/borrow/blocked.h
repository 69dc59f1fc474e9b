/* SPDX-License-Identifier: GPL-2.0-or-later */
/* blocked - classify system calls by what happens when a stop interrupts them. */
#ifndef MS_PROBE_BORROW_BLOCKED_H
#define MS_PROBE_BORROW_BLOCKED_H

enum blocked_kind {
	/* a wait for work: allocators and the dynamic linker never make these calls */
	BLOCKED_IDLE,
	BLOCKED_OTHER, /* the system call continues as if it had not been interrupted */
	/*
	 * the system call continues, but allocators and libc may make such a call while
	 * holding a lock
	 */
	BLOCKED_MEMORY,
	/*
	 * the system call may have done part of its work, or may fail, so the program
	 * could notice the stop
	 */
	BLOCKED_FRAGILE,
};

enum blocked_kind blocked_kind(long number);

/*
 * Return the result to store in the thread so that the kernel restarts the system
 * call unless a signal handler runs. This is `result` itself, except for calls that
 * return a plain -EINTR.
 */
long blocked_result(long number, long result);

/* the kernel's -ERESTARTNOHAND: restart the system call unless a signal handler runs */
#define BLOCKED_AGAIN_UNLESS_HANDLED (-514)

#endif
