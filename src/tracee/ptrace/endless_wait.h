/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * endless_wait - let a stopped thread continue to wait in a system call that the stop
 * interrupted.
 *
 * The kernel restarts most interrupted system calls, with the remainder of their timeout.
 * Some fail with EINTR instead, such as epoll_wait(2); see signal(7). Without a timeout,
 * such a call can be restarted as if it had never been interrupted. With a timeout, it is
 * left alone: it would wait for the whole timeout again, after each stop.
 */
#ifndef MS_TRACEE_PTRACE_ENDLESS_WAIT_H
#define MS_TRACEE_PTRACE_ENDLESS_WAIT_H

/*
 * If a stop has interrupted a system call that has no timeout, and the call is about
 * to fail with EINTR, make the kernel restart it unless a signal handler runs. The
 * caller traces the thread, which is stopped. Errors are ignored: the call then
 * fails with EINTR.
 */
void endless_wait_continue(int tid);

#endif
