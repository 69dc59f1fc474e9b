/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * syscalls - make system calls without libc. This is the only part of the helper that
 * depends on the architecture.
 */
#ifndef MS_AGENT_SYSTEM_SYSCALLS_H
#define MS_AGENT_SYSTEM_SYSCALLS_H

#ifdef __x86_64__

#	include <asm/unistd.h>
#	include <linux/futex.h>
#	include <sys/prctl.h>
#	include <linux/time_types.h>
#	include <stdint.h>

/*
 * The value of CLOCK_MONOTONIC. <linux/time.h>, which defines it, conflicts with libc's
 * header.
 */
#	define AGENT_MONOTONIC 1

/* Make a system call. Return the kernel's result, which is -errno on failure. */
static inline long agent_syscall(long number, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}

/* Like agent_syscall(), for a system call with six arguments. */
static inline long agent_syscall6(long number, const long arguments[6])
{
	const long d = arguments[3], e = arguments[4], f = arguments[5];
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(arguments[0]), "S"(arguments[1]),
			   "d"(arguments[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static inline uint64_t agent_now_ns(void)
{
	struct __kernel_timespec now = { 0, 0 };

	agent_syscall(__NR_clock_gettime, AGENT_MONOTONIC, (long)&now, 0, 0);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * Sleep for at most limit_ms milliseconds while *word equals `expected`. Return 0,
 * -EAGAIN, -EINTR or -ETIMEDOUT.
 */
static inline long agent_futex_wait(const uint32_t *word, uint32_t expected,
				    uint32_t limit_ms)
{
	struct __kernel_timespec limit = { limit_ms / 1000,
					   (limit_ms % 1000) * 1000000L };

	return agent_syscall(__NR_futex, (long)word, FUTEX_WAIT, (long)expected,
			     (long)&limit);
}

static inline void agent_futex_wake(const uint32_t *word)
{
	agent_syscall(__NR_futex, (long)word, FUTEX_WAKE, INT32_MAX, 0);
}

#endif
#endif
