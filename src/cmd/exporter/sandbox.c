/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/exporter/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ID of the user and the group nobody, which is the kernel's overflow ID. */
#define NOBODY 65534

/*
 * Maximum number of descriptors. It suffices for 16 sockets with 16 connections each and
 * some that are being closed, their epoll descriptors, and the memfds.
 */
#define DESCRIPTORS_MAX 1000

#if defined(__x86_64__)
#	define THIS_ARCH AUDIT_ARCH_X86_64
#	define IS_FILTERED true
#elif defined(__aarch64__)
#	define THIS_ARCH AUDIT_ARCH_AARCH64
#	define IS_FILTERED true
#else
#	define IS_FILTERED false
#endif

/* The system calls that libmicrohttpd, GnuTLS, zlib and libc make in a running server. */
static const int allowed[] = {
	SYS_read,
	SYS_readv,
	SYS_write,
	SYS_writev,
	SYS_close,
	SYS_fstat,
	SYS_lseek,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	SYS_brk,
	SYS_futex,
	SYS_getrandom,
	SYS_clock_gettime,
	SYS_clock_nanosleep,
	SYS_gettimeofday,
	SYS_ppoll,
	SYS_epoll_create1,
	SYS_epoll_ctl,
	SYS_epoll_pwait,
	SYS_accept4,
	SYS_recvfrom,
	SYS_recvmsg,
	SYS_sendto,
	SYS_sendmsg,
	SYS_shutdown,
	SYS_getsockopt,
	SYS_setsockopt,
	SYS_getsockname,
	SYS_getpeername,
	SYS_getpid,
	SYS_gettid,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_sigaltstack,
	SYS_restart_syscall,
	SYS_exit,
	SYS_exit_group,
#ifdef SYS_newfstatat
	SYS_newfstatat,
#endif
#ifdef SYS_time
	SYS_time,
#endif
#ifdef SYS_poll
	SYS_poll,
#endif
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
#endif
};

#define ALLOWED_COUNT (sizeof(allowed) / sizeof(allowed[0]))

/*
 * The commands of fcntl(2) that a running server uses. Others, such as F_SETOWN and
 * F_SETSIG, could make the kernel send signals to other processes.
 */
static const int allowed_fcntl[] = {
	F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GET_SEALS,
};

#define FCNTL_COUNT (sizeof(allowed_fcntl) / sizeof(allowed_fcntl[0]))

#ifdef THIS_ARCH

static struct sock_filter statement(uint16_t code, uint32_t value)
{
	return (struct sock_filter)BPF_STMT(code, value);
}

/*
 * Return a BPF instruction that compares the loaded word with the value, and skips
 * if_equal instructions if they are equal, or if_not instructions if they differ.
 */
static struct sock_filter compare(uint32_t value, size_t if_equal, size_t if_not)
{
	return (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value,
					    (uint8_t)if_equal, (uint8_t)if_not);
}

/* Return a BPF instruction that loads a word of struct seccomp_data. */
static struct sock_filter load(size_t offset)
{
	return statement(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

/*
 * Add BPF instructions that allow the system call if the loaded word is in the list, and
 * otherwise forbid the call.
 */
static unsigned short add_list(struct sock_filter *code, const int *list, size_t count)
{
	unsigned short n = 0;

	for (size_t i = 0; i < count; i++)
		code[n++] = compare((uint32_t)list[i], count - i, 0);
	code[n++] = statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	code[n++] = statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return n;
}

#endif

/*
 * Install the system call filter. A forbidden call fails with EPERM. The filter does not
 * kill the process, because a new version of a library might make other calls and would
 * then end the exporter.
 */
static int forbid_calls(void)
{
#ifdef THIS_ARCH
	struct sock_filter code[ALLOWED_COUNT + FCNTL_COUNT + 10];
	struct sock_fprog program = { .filter = code };
	unsigned short n = 0;

	code[n++] = load(offsetof(struct seccomp_data, arch));
	code[n++] = compare(THIS_ARCH, 1, 0);
	code[n++] = statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[n++] = load(offsetof(struct seccomp_data, nr));
	/* for fcntl(2), check the command: the low word of the second argument */
	code[n++] = compare(SYS_fcntl, 0, FCNTL_COUNT + 3);
	code[n++] = load(offsetof(struct seccomp_data, args[1]));
	n += add_list(code + n, allowed_fcntl, FCNTL_COUNT);
	n += add_list(code + n, allowed, ALLOWED_COUNT);
	program.len = n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
#else
	return 0;
#endif
}

/*
 * Switch to the user nobody. In a container, root may lack CAP_SETUID and CAP_SETGID. The
 * process then remains root, but without capabilities, and the filter denies opening
 * files and sending signals.
 */
static int drop_user(void)
{
	if (geteuid() != 0)
		return 0;
	if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	    setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return IS_FILTERED && errno == EPERM ? 0 : -errno;
	return 0;
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version =
							   _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	/*
	 * ignore the error: prctl() fails on kernels without ambient capabilities, where
	 * there is nothing to clear
	 */
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &header, none) < 0 ? -errno : 0;
}

static void limit_resources(void)
{
	const struct rlimit none = { 0, 0 };
	const struct rlimit descriptors = { DESCRIPTORS_MAX, DESCRIPTORS_MAX };

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)setrlimit(RLIMIT_NPROC, &none);
	(void)setrlimit(RLIMIT_FSIZE, &none);
	(void)setrlimit(RLIMIT_NOFILE, &descriptors);
}

int sandbox_enter(void)
{
	int r;

	limit_resources();
	r = drop_user();
	if (r == 0)
		r = drop_capabilities();
	if (r < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	/* prevent other processes of the same user from tracing this process */
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return forbid_calls();
}
