/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocked - classify system calls according to what happens when a tracer's stop
 * interrupts them.
 */
#ifndef MS_PROBE_BORROW_BLOCKED_H
#define MS_PROBE_BORROW_BLOCKED_H

enum blocked_kind {
	/*
	 * the thread waits for work; allocators and the dynamic linker never make these
	 * system calls
	 */
	BLOCKED_IDLE,
	/*
	 * after the stop, the system call continues as if it had not been interrupted
	 */
	BLOCKED_OTHER,
	/*
	 * after the stop, the system call continues, but allocators and libc may make
	 * the call while they hold a lock
	 */
	BLOCKED_MEMORY,
	/*
	 * when interrupted, the system call may have done only part of its work, or may
	 * fail, so the program could notice the stop
	 */
	BLOCKED_FRAGILE,
};

enum blocked_kind blocked_kind(long number);

/*
 * Return the result to store in the stopped thread so that the kernel restarts the system
 * call, unless a signal handler runs. Only a result of -EINTR must be changed, because
 * the kernel does not restart such a call; return all other results unchanged.
 */
long blocked_result(long number, long result);

/*
 * The kernel's -ERESTARTNOHAND: restart the system call unless a signal handler runs.
 */
#define BLOCKED_AGAIN_UNLESS_HANDLED (-514)

#endif
