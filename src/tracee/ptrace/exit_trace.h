/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exit_trace - stop killed processes just before they end, while their memory is still
 * complete, until memstate has read it. On request, a tracer process attaches to a
 * process with ptrace. The only effect on the process is that its signals arrive some
 * microseconds later. The kernel releases all processes when the tracer exits.
 */
#ifndef MS_TRACEE_PTRACE_EXIT_TRACE_H
#define MS_TRACEE_PTRACE_EXIT_TRACE_H

#include <stdint.h>

enum exit_trace_kind {
	EXIT_TRACE_ADD = 1, /* to the tracer: trace this pid */
	/*
	 * to the tracer: memstate has read the memory of this pid, so the process may end
	 */
	EXIT_TRACE_RELEASE,
	EXIT_TRACE_BEAT, /* to the tracer: memstate is still alive */
	/*
	 * From the tracer: this pid cannot be traced, because permission is missing or
	 * the process has another tracer.
	 */
	EXIT_TRACE_REFUSED,
	/* From the tracer: this pid was killed, and is stopped for at most one second. */
	EXIT_TRACE_DYING,
};

struct exit_trace_message {
	enum exit_trace_kind kind;
	int pid;
	int error; /* if kind is EXIT_TRACE_REFUSED: the reason as -errno */
};

/*
 * Run the tracer: handle messages until the other end of the socket (SOCK_SEQPACKET) is
 * closed, or has sent nothing for silence_ns. The time limit is needed because a thread
 * that hangs in the kernel keeps the sockets of a killed process open. Call this function
 * in a separate process, which exits afterwards. Return 0 or -errno.
 */
int exit_trace_serve(int socket_fd, uint64_t silence_ns);

#endif
