/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/ptrace/endless_wait.h"

#if defined(__x86_64__)

#	include <elf.h>
#	include <errno.h>
#	include <stdbool.h>
#	include <stdint.h>
#	include <sys/ptrace.h>
#	include <sys/syscall.h>
#	include <sys/uio.h>
#	include <sys/user.h>

/* The kernel's -ERESTARTNOHAND: restart the call unless a signal handler runs. */
#	define RESULT_AGAIN (-514)

#	define SYSCALL_EPOLL_PWAIT2 441

/*
 * Return true if the system call in these registers has no timeout, and has no effect if
 * it fails with EINTR. The arguments are in rdi, rsi, rdx, r10, r8 and r9.
 */
static bool is_endless(const struct user_regs_struct *regs)
{
	switch (regs->orig_rax) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait: return (int32_t)regs->r10 < 0;
	case SYSCALL_EPOLL_PWAIT2:
	case SYS_semtimedop: return regs->r10 == 0;
	case SYS_rt_sigtimedwait: return regs->rdx == 0;
	case SYS_io_getevents:
	case SYS_io_pgetevents: return regs->r8 == 0;
	case SYS_semop: return true;
	default: return false;
	}
}

void endless_wait_continue(int tid)
{
	struct user_regs_struct regs;
	struct iovec io = { &regs, sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &io) < 0 ||
	    io.iov_len != sizeof(regs) || (int64_t)regs.rax != -EINTR ||
	    !is_endless(&regs))
		return;
	regs.rax = (unsigned long long)RESULT_AGAIN;
	(void)ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &io);
}

#else

void endless_wait_continue(int tid)
{
	(void)tid;
}

#endif
