/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/open_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "proc/system/foreign_file.h"

#if defined(__x86_64__)
#	define GUARD_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#	define GUARD_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef GUARD_ARCH

/*
 * Open flags with which the guard allows a call without examining the file. O_PATH does
 * not open the file, foreign_file itself sets O_NONBLOCK, opening a directory is
 * harmless, and the other flags are used for writing.
 */
#	define PASSED_FLAGS \
		(O_PATH | O_NONBLOCK | O_DIRECTORY | O_WRONLY | O_RDWR | O_CREAT)

struct open_call {
	int dir_fd;
	const char *path;
};

#	if defined(__x86_64__)
static struct open_call read_call(const ucontext_t *context, int number)
{
	const greg_t *registers = context->uc_mcontext.gregs;

	if (number == SYS_open)
		return (struct open_call){ AT_FDCWD, (const char *)registers[REG_RDI] };
	return (struct open_call){ (int)registers[REG_RDI],
				   (const char *)registers[REG_RSI] };
}

static void set_result(ucontext_t *context, long result)
{
	context->uc_mcontext.gregs[REG_RAX] = result;
}
#	else
static struct open_call read_call(const ucontext_t *context, int number)
{
	(void)number;
	return (struct open_call){ (int)context->uc_mcontext.regs[0],
				   (const char *)context->uc_mcontext.regs[1] };
}

static void set_result(ucontext_t *context, long result)
{
	context->uc_mcontext.regs[0] = (unsigned long)result;
}
#	endif

/*
 * Open the file that the intercepted call names. libdwfl opens relative paths below the
 * working directory. This function runs in a handler of SIGSYS, which the system call
 * raises synchronously, so the handler may allocate memory wherever the caller may.
 */
static int open_path(struct open_call call)
{
	char path[PATH_MAX * 2] = "";
	size_t length;

	if (call.path[0] != '/' && call.dir_fd != AT_FDCWD)
		return -EACCES;
	if (call.path[0] != '/' && !getcwd(path, PATH_MAX))
		return -errno;
	length = strlen(path);
	if (strlen(call.path) + 2 > sizeof(path) - length)
		return -ENAMETOOLONG;
	snprintf(path + length, sizeof(path) - length, "/%s", call.path);
	return foreign_file_open(FOREIGN_OWN_ROOT, path, FOREIGN_ELF_BYTES_MAX);
}

/*
 * Handle SIGSYS: perform the intercepted call, which opens a file for reading, in a
 * safe way.
 */
static void open_safely(int signal, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)signal;
	set_result(context, open_path(read_call(context, info->si_syscall)));
	errno = saved;
}

#	define LOAD(field) \
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#	define IS_EQUAL(value, yes, no) \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#	define HAS_ANY(bits, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, yes, no)
#	define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)

int open_guard_install(void)
{
	struct sock_filter filter[] = {
		LOAD(arch),
		IS_EQUAL(GUARD_ARCH, 0, 8),
		LOAD(nr),
		IS_EQUAL(SYS_openat, 3, 0),
#	ifdef SYS_open
		IS_EQUAL(SYS_open, 0, 5),
#	else
		BPF_STMT(BPF_JMP | BPF_JA, 5),
#	endif
		LOAD(args[1]),
		BPF_STMT(BPF_JMP | BPF_JA, 1),
		LOAD(args[2]),
		HAS_ANY(PASSED_FLAGS, 1, 0),
		RETURN(SECCOMP_RET_TRAP),
		RETURN(SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };
	struct sigaction action = { .sa_sigaction = open_safely, .sa_flags = SA_SIGINFO };

	sigemptyset(&action.sa_mask);
	if (sigaction(SIGSYS, &action, NULL) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return -errno;
	return 0;
}

#else

int open_guard_install(void)
{
	return -EOPNOTSUPP;
}

#endif
