/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watchdog - a process that continues memstate if memstate is stopped while it holds a
 * target. SIGSTOP cannot be caught, and it also stops the thread that would release the
 * target. The watchdog is a child of memstate. While the watchdog is armed, it checks ten
 * times a second if memstate is stopped, and sends SIGCONT if so. The watchdog never
 * touches the target: only memstate, which has saved the registers and the signals of
 * each thread, can release the target in a consistent state. The watchdog ends with
 * memstate. It does not help if it is stopped itself (SIGSTOP, a frozen cgroup), or if a
 * debugger stops memstate.
 */
#ifndef MS_TRACEE_PTRACE_WATCHDOG_H
#define MS_TRACEE_PTRACE_WATCHDOG_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Start the watchdog, if none is running, and arm it. Return 0 or -errno; -EAGAIN if the
 * limit on processes is reached. Before Linux 5.3, and where a seccomp filter forbids
 * pidfd_open(2), there is no watchdog, and watchdog_arm() returns 0.
 */
int watchdog_arm(void);

/* Return true if the watchdog has continued memstate since it was armed. */
bool watchdog_has_continued(void);

/*
 * Clear the result of watchdog_has_continued(), because another process has also
 * sent SIGCONT.
 */
void watchdog_forget(void);

/* Disarm the watchdog: from now on, it does not continue a stopped memstate. */
void watchdog_disarm(void);

/*
 * Return the pid of the watchdog, or 0. Safe in a signal handler. Reports about
 * memstate's child processes must leave out the watchdog, because it is not part of
 * what the user started.
 */
pid_t watchdog_pid(void);

#endif
