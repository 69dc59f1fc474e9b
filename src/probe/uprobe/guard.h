/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guard - a process that sets and removes kernel breakpoints (uprobes).
 *
 * A process with a pending SIGKILL cannot remove a breakpoint: the kernel has to write
 * to a page of the target, get_user_pages() refuses a caller that is about to be killed,
 * and the breakpoint stays ("failed to unregister, leaking uprobe",
 * kernel/events/uprobes.c, Linux 6.18). Therefore memstate itself never registers or
 * removes a breakpoint. The guard does, in its own session, and removes all of them when
 * memstate ends for any reason.
 *
 * If the guard is killed while it removes breakpoints, some may stay. The next guard that
 * sets and removes a breakpoint at the same address removes those, too.
 */
#ifndef MS_PROBE_UPROBE_GUARD_H
#define MS_PROBE_UPROBE_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The work of the guard. It runs with a copy of memstate's memory from the time
 * of uprobe_guard_start(). Descriptors 0 to 2 are /dev/null. The guard inherits
 * only the descriptors listed here, so it keeps none of memstate's pipes,
 * sockets or recordings open.
 */
#define UPROBE_GUARD_FDS_MAX 16
struct uprobe_guard_work {
	int inherited_fds[UPROBE_GUARD_FDS_MAX];
	size_t inherited_count;
	/*
	 * Carry out a request. Return 0 or -errno, and in *ret_fd a descriptor for
	 * memstate, or -1. The guard keeps the descriptor open, too.
	 */
	int (*serve)(void *context, int request, int *ret_fd);
	/* Remove all breakpoints. */
	void (*end)(void *context);
	void *context;
};

struct uprobe_guard {
	int fd; /* a socket to the guard; -1: no guard */
	pid_t pid;
};

#define UPROBE_GUARD_NONE \
	{                 \
		.fd = -1  \
	}

/* Start the guard; call it before any breakpoint is set. Return 0 or -errno. */
int uprobe_guard_start(struct uprobe_guard *guard, const struct uprobe_guard_work *work);

/*
 * Have the guard carry out a request, and wait for it. ret_fd may be NULL; otherwise the
 * caller closes *ret_fd, which is -1 if the guard sent no descriptor. Return 0, -errno of
 * the request, or -ECHILD: the guard was killed.
 */
int uprobe_guard_ask(struct uprobe_guard *guard, int request, int *ret_fd);

/*
 * Return whether the guard is still running. Without it the breakpoints are
 * gone, and nothing is counted.
 */
bool uprobe_guard_is_alive(const struct uprobe_guard *guard);

/* Have the guard remove all breakpoints, and wait for its exit. */
void uprobe_guard_end(struct uprobe_guard *guard);

#endif
