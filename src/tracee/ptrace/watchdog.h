/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watchdog - a process that continues memstate if memstate is stopped while it holds a
 * target. SIGSTOP cannot be caught, and it also stops the thread that would release the
 * target.
 *
 * The watchdog is a child process of memstate. While the watchdog is armed, it checks ten
 * times a second whether memstate is stopped, and if so sends SIGCONT. It never touches
 * the target: only memstate, which has saved the registers and the signals of each
 * thread, can release the target in a consistent state. The watchdog exits when memstate
 * ends. It does not help if it is stopped itself (SIGSTOP, a frozen cgroup), or if a
 * debugger stops memstate.
 */
#ifndef MS_TRACEE_PTRACE_WATCHDOG_H
#define MS_TRACEE_PTRACE_WATCHDOG_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Arm the watchdog, after starting it if it is not running. Return 0 or -errno; -EAGAIN
 * if the limit on processes is reached. Before Linux 5.3, and where a seccomp filter
 * forbids pidfd_open(2), the function starts no watchdog and returns 0.
 */
int watchdog_arm(void);

/* Return true if the watchdog has continued memstate since it was armed. */
bool watchdog_has_continued(void);

/*
 * Make watchdog_has_continued() return false again, for example because a process other
 * than the watchdog has also sent SIGCONT.
 */
void watchdog_forget(void);

/* Disarm the watchdog, so that it no longer continues a stopped memstate. */
void watchdog_disarm(void);

/*
 * Return the pid of the watchdog, or 0 if it is not running. Safe in a signal handler.
 * Reports about memstate's child processes must omit the watchdog, because the user did
 * not start it.
 */
pid_t watchdog_pid(void);

#endif
