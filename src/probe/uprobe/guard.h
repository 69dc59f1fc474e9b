/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guard - a process that sets and removes kernel breakpoints (uprobes).
 *
 * A process with a pending SIGKILL cannot remove a breakpoint. The kernel would have to
 * write to a page of the target, but get_user_pages() fails for a process that is about
 * to be killed. The breakpoint then remains ("failed to unregister, leaking uprobe",
 * kernel/events/uprobes.c, Linux 6.18). Therefore memstate itself never sets or removes a
 * breakpoint. The guard does so, in its own session, and removes all breakpoints when
 * memstate ends for any reason.
 *
 * If the guard is killed while it removes breakpoints, some may remain. When a later
 * guard sets and removes a breakpoint at the same address, the old breakpoint disappears
 * as well.
 */
#ifndef MS_PROBE_UPROBE_GUARD_H
#define MS_PROBE_UPROBE_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The functions that the guard process runs, and the descriptors that it inherits. The
 * guard has a copy of memstate's memory from the time of uprobe_guard_start(). Its
 * descriptors 0 to 2 are /dev/null. It inherits no other descriptors, so that it does not
 * keep memstate's pipes, sockets or recordings open.
 */
#define UPROBE_GUARD_FDS_MAX 16
struct uprobe_guard_work {
	int inherited_fds[UPROBE_GUARD_FDS_MAX];
	size_t inherited_count;
	/*
	 * Callback that serves a request in the guard process. Return 0 or -errno.
	 * *ret_fd is a descriptor to send to memstate, or -1; the guard also keeps the
	 * descriptor open.
	 */
	int (*serve)(void *context, int request, int *ret_fd);
	/*
	 * Callback that removes all breakpoints. The guard process calls it before it
	 * exits.
	 */
	void (*end)(void *context);
	void *context;
};

struct uprobe_guard {
	int fd; /* socket connected to the guard process; -1: not connected */
	pid_t pid;
};

#define UPROBE_GUARD_NONE \
	{                 \
		.fd = -1  \
	}

/*
 * Start the guard process. This must happen before any breakpoint is set.
 * Return 0 or -errno.
 */
int uprobe_guard_start(struct uprobe_guard *guard, const struct uprobe_guard_work *work);

/*
 * Send a request to the guard process, and wait for the result. If ret_fd is not NULL,
 * *ret_fd is the descriptor that the guard sent, which the caller closes, or -1. Return
 * 0, -errno from the request, or -ECHILD if the guard was killed.
 */
int uprobe_guard_ask(struct uprobe_guard *guard, int request, int *ret_fd);

/*
 * Return true if the guard process is still running. When the guard has ended, its
 * breakpoints are gone, and no calls are counted.
 */
bool uprobe_guard_is_alive(const struct uprobe_guard *guard);

/* Make the guard process remove all breakpoints, and wait until it has exited. */
void uprobe_guard_end(struct uprobe_guard *guard);

#endif
