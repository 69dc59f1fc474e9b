/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ask - the system calls that memstate's code in another program may make after that
 * program's main() has started.
 *
 * A program may install a seccomp filter at any time. The filter may kill the program for
 * a system call that the program itself never makes. After startup, memstate's code
 * therefore uses only futex(2), mmap(2) and munmap(2), which malloc() and threads need
 * anyway. futex(2) also replaces other system calls: without causing a signal, it reports
 * whether memory is readable, has disk space, or still contains a given value.
 */
#ifndef MS_AGENT_SYSTEM_ASK_H
#define MS_AGENT_SYSTEM_ASK_H

/*
 * The following names are defined for every architecture, because other headers use them,
 * although only the x86-64 code needs them.
 */

/*
 * Offset of the tid in glibc's struct pthread. The kernel sets the tid to 0 when the
 * thread ends.
 */
#define ASK_TID_OFFSET 0x2d0

enum ask_permission {
	ASK_ALWAYS,
	/*
	 * a seccomp filter is active: futex(2) is allowed only if the program has more
	 * than one thread, because the filter must then allow futex(2)
	 */
	ASK_IF_THREADED,
	/*
	 * seccomp's strict mode is active, or a filter that allows only read, write and
	 * exit; memstate's code must not call futex(2), mmap(2) or munmap(2)
	 */
	ASK_NEVER,
};

#ifdef __x86_64__

#	include <linux/errno.h>
#	include <stdbool.h>
#	include <stdint.h>

#	include "agent/system/syscalls.h"

#	define ASK_PAGE_BYTES 4096

#	ifndef AGENT_BLOB
/* glibc declares __libc_single_threaded only since version 2.32 */
extern char __libc_single_threaded __attribute__((weak));
#	endif

static inline bool ask_may(enum ask_permission permission)
{
#	ifndef AGENT_BLOB
	if (permission == ASK_IF_THREADED)
		return &__libc_single_threaded && !__libc_single_threaded;
#	endif
	return permission != ASK_NEVER;
}

/*
 * Compare the 4 bytes at addr with `value`. Return 0 if they are equal, -EAGAIN if they
 * differ, or -EFAULT if addr is not readable.
 */
static inline long ask_word(uint64_t addr, uint32_t value)
{
	return agent_syscall6(__NR_futex,
			      (const long[6]){ (long)addr,
					       FUTEX_CMP_REQUEUE | FUTEX_PRIVATE_FLAG, 0,
					       0, (long)addr, value });
}

static inline bool ask_can_read(uint64_t addr)
{
	long r = ask_word(addr & ~UINT64_C(3), 0);

	return r >= 0 || r == -EAGAIN;
}

/*
 * Return true if the thread with this id, whose struct pthread is at `self`, has ended.
 */
static inline bool ask_has_ended(uint64_t self, uint32_t tid)
{
	long r = self ? ask_word(self + ASK_TID_OFFSET, tid) : 0;

	return r == -EAGAIN || r == -EFAULT;
}

/*
 * Make the kernel allocate disk space for the pages of a shared file mapping between two
 * addresses. Return false if the disk is full or the file ends earlier: writing to such a
 * page would kill the program.
 */
static inline bool ask_for_room(uint64_t from, uint64_t to)
{
	const uint64_t page = ASK_PAGE_BYTES;

	for (uint64_t at = from & ~(page - 1); at < to; at += page)
		if (agent_syscall(__NR_futex, (long)at, FUTEX_WAKE, 1, 0) < 0)
			return false;
	return true;
}

/* Wait up to 1 ms for another thread to release the lock. */
static inline void ask_wait(const uint32_t *lock, enum ask_permission permission)
{
	if (ask_may(permission))
		agent_futex_wait(lock, 1, 1);
	else
		__builtin_ia32_pause();
}

static inline uint64_t ask_own_self(void)
{
	uint64_t self;

	__asm__("movq %%fs:0, %0" : "=r"(self));
	return self;
}

static inline uint32_t ask_own_tid(void)
{
	uint32_t tid;

	__asm__("movl %%fs:%c1, %0" : "=r"(tid) : "i"(ASK_TID_OFFSET));
	return tid;
}

#endif
#endif
