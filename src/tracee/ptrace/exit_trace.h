/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exit_trace - processes that are killed stand still at their end, with all their memory,
 * until somebody has read it.
 *
 * By ptrace: each is traced from when it is asked for, which it notices by signals that
 * come some microseconds later. The kernel lets go of all when the tracing process ends.
 */
#ifndef MS_TRACEE_PTRACE_EXIT_TRACE_H
#define MS_TRACEE_PTRACE_EXIT_TRACE_H

#include <stdint.h>

enum exit_trace_kind {
	EXIT_TRACE_ADD = 1, /* to the tracer: trace this pid */
	EXIT_TRACE_GO,	    /* to it: this one's memory was read */
	EXIT_TRACE_BEAT,    /* to it: the sender still runs */
	EXIT_TRACE_REFUSED, /* from it: this one cannot be traced, for want of permission or another tracer */
	EXIT_TRACE_DYING, /* from it: this one was killed, and stands still, for a second at most */
};

struct exit_trace_message {
	enum exit_trace_kind kind;
	int pid;
	int error; /* -errno of EXIT_TRACE_REFUSED */
};

/*
 * Serve these messages until the other end of the socket (SOCK_SEQPACKET) is closed, or has sent
 * nothing for silence_ns: a thread that hangs in the kernel keeps a killed process's sockets open.
 * Called in a process of its own, which ends then. Returns 0 or -errno.
 */
int exit_trace_serve(int socket_fd, uint64_t silence_ns);

#endif
