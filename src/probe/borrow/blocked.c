/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/blocked.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>

/*
 * System calls in which a thread waits for work. Some architectures lack
 * some of these calls.
 */
static const long idle_calls[] = {
#ifdef SYS_epoll_wait
	SYS_epoll_wait,	     SYS_poll,
	SYS_select,	     SYS_pause,
#endif
	SYS_epoll_pwait,     441, /* system call number of epoll_pwait2 */
	SYS_ppoll,	     SYS_pselect6,
	SYS_accept,	     SYS_accept4,
	SYS_recvfrom,	     SYS_recvmsg,
	SYS_wait4,	     SYS_waitid,
	SYS_rt_sigtimedwait, SYS_rt_sigsuspend,
	SYS_io_getevents,
};

/*
 * System calls that reveal an interruption to the program, because they return early with
 * partial results. connect(2) is in the list, because it cannot be restarted if the
 * socket has a timeout.
 */
static const long fragile_calls[] = {
	SYS_connect, SYS_write,	  SYS_writev,	      SYS_pwrite64,	   SYS_pwritev,
	SYS_sendto,  SYS_sendmsg, SYS_sendmmsg,	      SYS_recvmmsg,	   SYS_sendfile,
	SYS_splice,  SYS_tee,	  SYS_vmsplice,	      SYS_copy_file_range, SYS_getrandom,
	SYS_close,   SYS_ioctl,	  SYS_io_uring_enter, SYS_readv,	   SYS_preadv,
};

/*
 * System calls that libc may make while it holds a lock. The list is derived from these
 * files of glibc 2.36: nptl/allocatestack.c, nptl/nptl-stack.c, malloc/arena.c,
 * malloc/sysmalloc.c.
 */
static const long memory_calls[] = {
	SYS_mmap,   SYS_munmap, SYS_mprotect, SYS_mremap,	  SYS_madvise,
	SYS_brk,    SYS_futex,	SYS_clone,    SYS_rt_sigprocmask, SYS_membarrier,
	SYS_tgkill, SYS_prctl,	SYS_exit,     SYS_sched_yield,	  SYS_set_robust_list,
	334, /* system call number of rseq */
	435, /* system call number of clone3 */
};

/*
 * System calls that, when interrupted, return -EINTR instead of a restart code such as
 * -ERESTARTSYS. An interrupted call has had no effect, so it can be repeated.
 */
static const long repeatable_calls[] = {
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
#endif
	SYS_epoll_pwait,
	441, /* system call number of epoll_pwait2 */
	SYS_rt_sigtimedwait,
	SYS_io_getevents,
	SYS_io_pgetevents,
	SYS_io_uring_enter,
	SYS_read,
	SYS_recvfrom,
	SYS_recvmsg,
	SYS_accept,
	SYS_accept4,
	SYS_sendto,
	SYS_sendmsg,
	SYS_write,
	SYS_semop,
	SYS_semtimedop,
	SYS_msgrcv,
	SYS_msgsnd,
	SYS_futex,
};

static bool is_in(const long *calls, size_t count, long number)
{
	for (size_t i = 0; i < count; i++)
		if (calls[i] == number)
			return true;
	return false;
}

#define IS_IN(calls, number) is_in(calls, sizeof(calls) / sizeof((calls)[0]), number)

enum blocked_kind blocked_kind(long number)
{
	if (IS_IN(idle_calls, number))
		return BLOCKED_IDLE;
	if (IS_IN(fragile_calls, number))
		return BLOCKED_FRAGILE;
	return IS_IN(memory_calls, number) ? BLOCKED_MEMORY : BLOCKED_OTHER;
}

long blocked_result(long number, long result)
{
	return result == -EINTR && IS_IN(repeatable_calls, number)
		       ? BLOCKED_AGAIN_UNLESS_HANDLED
		       : result;
}
