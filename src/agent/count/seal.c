/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seal - replacements for prctl(2) and syscall(2), through which the counting library
 * detects that the program installs a seccomp filter or sets the name of a thread.
 *
 * The library does not detect a filter that is installed in another way. ask.h lists the
 * system calls that the library makes even under such a filter.
 */
#include "config.h"

#include "agent/count/inside.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>

#include "agent/system/ask.h"

typedef int set_name_function(pthread_t thread, const char *name);

static set_name_function *next_set_name;

static long returned(long result)
{
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}

static long install(long number, long a, long b, long c, bool is_strict)
{
	long r;

	count_slot_seal(is_strict ? ASK_NEVER : ASK_IF_THREADED);
	r = agent_syscall(number, a, b, c, 0);
	if (r < 0)
		count_slot_seal(ASK_ALWAYS);
	return returned(r);
}

static long call_prctl(long option, const long arguments[4])
{
	long r;

	if (option == PR_SET_SECCOMP &&
	    (arguments[0] == SECCOMP_MODE_STRICT || arguments[0] == SECCOMP_MODE_FILTER))
		return install(__NR_prctl, option, arguments[0], arguments[1],
			       arguments[0] == SECCOMP_MODE_STRICT);
	r = agent_syscall6(__NR_prctl,
			   (const long[6]){ option, arguments[0], arguments[1],
					    arguments[2], arguments[3], 0 });
	if (option == PR_SET_NAME && r == 0)
		count_slot_set_name(ask_own_tid(), (const char *)arguments[0]);
	return returned(r);
}

COUNT_EXPORT int prctl(int option, ...)
{
	long arguments[4];
	va_list list;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	return (int)call_prctl(option, arguments);
}

#pragma GCC visibility push(hidden)
long count_seal_call(long number, long a, long b, long c, long d, long e);
long count_seal_failed(long result);
#pragma GCC visibility pop

/*
 * Handle prctl(2) and seccomp(2) for the replacement of syscall(), which makes all other
 * system calls directly.
 */
__attribute__((used)) long count_seal_call(long number, long a, long b, long c, long d,
					   long e)
{
	if (number == __NR_prctl)
		return call_prctl(a, (const long[4]){ b, c, d, e });
	if (a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER)
		return install(number, a, b, c, a == SECCOMP_SET_MODE_STRICT);
	return returned(agent_syscall(number, a, b, c, d));
}

__attribute__((used)) long count_seal_failed(long result)
{
	return returned(result);
}

/*
 * A replacement for libc's syscall(). Like the original, it has no stack frame, because
 * it returns twice after clone(2) or vfork(2).
 */
__asm__(".text\n"
	".p2align 4\n"
	".globl syscall\n"
	".type syscall, @function\n"
	"syscall:\n"
	".cfi_startproc\n"
	"endbr64\n"
	"cmpq $317, %rdi\n" /* system call number of seccomp(2) */
	"je count_seal_call\n"
	"cmpq $157, %rdi\n" /* system call number of prctl(2) */
	"je count_seal_call\n"
	"movq %rdi, %rax\n"
	"movq %rsi, %rdi\n"
	"movq %rdx, %rsi\n"
	"movq %rcx, %rdx\n"
	"movq %r8, %r10\n"
	"movq %r9, %r8\n"
	"movq 8(%rsp), %r9\n"
	"syscall\n"
	"cmpq $-4095, %rax\n"
	"jae 1f\n"
	"ret\n"
	"1:\n"
	"movq %rax, %rdi\n"
	"jmp count_seal_failed\n"
	".cfi_endproc\n"
	".size syscall, .-syscall\n");
_Static_assert(__NR_seccomp == 317 && __NR_prctl == 157, "as above");

COUNT_EXPORT int pthread_setname_np(pthread_t thread, const char *name)
{
	uint32_t tid;
	int r;

	if (!next_set_name) {
		void *function = dlsym(RTLD_NEXT, "pthread_setname_np");

		if (!function)
			return ENOSYS;
		memcpy(&next_set_name, &function, sizeof(function));
	}
	/*
	 * read the tid before setting the name, because the kernel sets the tid to 0 when
	 * the thread ends
	 */
	memcpy(&tid, (const char *)thread + ASK_TID_OFFSET, sizeof(tid));
	r = next_set_name(thread, name);
	if (r == 0)
		count_slot_set_name(tid, name);
	return r;
}
