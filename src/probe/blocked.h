/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocked - what it does to a system call to be broken off by a stop.
 */
#ifndef MS_PROBE_BLOCKED_H
#define MS_PROBE_BLOCKED_H

enum blocked_kind {
	BLOCKED_IDLE,	/* a wait for work: no allocator and no dynamic linker ever waits there */
	BLOCKED_OTHER,	/* goes on as if nothing had happened */
	BLOCKED_MEMORY, /* likewise; allocators and libc make it while they hold a lock */
	BLOCKED_FRAGILE, /* the program could see it: half of the work done, or an error */
};

enum blocked_kind blocked_kind(long number);

/*
 * What the kernel is to be told that the call returned, so that it goes on with it unless
 * a handler runs: result, or another one where the call has a bare -EINTR for that.
 */
long blocked_result(long number, long result);

/* -ERESTARTNOHAND: begins again unless a handler runs. */
#define BLOCKED_AGAIN_UNLESS_HANDLED (-514)

#endif
