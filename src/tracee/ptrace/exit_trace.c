/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/ptrace/exit_trace.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"

#define HELD_MAX 256
#define HELD_NS_MAX NS_PER_S
#define EVENT_OF(status) ((status) >> 8)
#define SIGNAL_OF(status) ((status)&0xff)

/* A killed process that the tracer holds just before it ends. */
struct held {
	int pid;
	uint64_t until_ns;
};

struct exit_tracer {
	int socket_fd;
	/* time at which the tracer exits unless it receives another message */
	uint64_t silent_ns;
	struct held held[HELD_MAX];
	size_t held_count;
};

static void send_message(const struct exit_tracer *t, enum exit_trace_kind kind, int pid,
			 int error)
{
	const struct exit_trace_message message = { kind, pid, error };

	(void)!send(t->socket_fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void release_process(struct exit_tracer *t, size_t index)
{
	ptrace(PTRACE_CONT, t->held[index].pid, NULL, NULL);
	t->held[index] = t->held[--t->held_count];
}

/*
 * Handle the stop of a process just before it ends. Hold the process if SIGKILL ends it
 * and fewer than HELD_MAX processes are held; otherwise let it end.
 */
static void handle_end(struct exit_tracer *t, int pid)
{
	unsigned long status = 0;

	/*
	 * consume the ptrace stop; no signal is lost, because a stop at
	 * exit delivers none
	 */
	(void)waitpid(pid, NULL, WNOHANG | __WALL);
	if (ptrace(PTRACE_GETEVENTMSG, pid, NULL, &status) < 0 ||
	    !WIFSIGNALED((int)status) || WTERMSIG((int)status) != SIGKILL ||
	    t->held_count == HELD_MAX) {
		ptrace(PTRACE_CONT, pid, NULL, NULL);
		return;
	}
	t->held[t->held_count++] = (struct held){ pid, clock_now_ns() + HELD_NS_MAX };
	send_message(t, EXIT_TRACE_DYING, pid, 0);
}

/*
 * Continue a stopped process, with its pending signal. The caller has examined the stop
 * with WNOWAIT, so the kernel would still deliver the signal if the tracer were killed
 * now.
 */
static void handle_stop(struct exit_tracer *t, int pid, int status)
{
	int signal = SIGNAL_OF(status);

	if (EVENT_OF(status) == PTRACE_EVENT_EXIT)
		handle_end(t, pid);
	else if (EVENT_OF(status) == PTRACE_EVENT_STOP && signal != SIGTRAP)
		ptrace(PTRACE_LISTEN, pid, NULL, NULL);
	else
		ptrace(PTRACE_CONT, pid, NULL,
		       (void *)(intptr_t)(EVENT_OF(status) ? 0 : signal));
}

/* Handle the stops and exits of all traced processes. */
static void handle_changes(struct exit_tracer *t)
{
	for (;;) {
		siginfo_t info = { 0 };

		if (waitid(P_ALL, 0, &info,
			   WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) < 0 ||
		    info.si_pid == 0)
			return;
		if (info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED)
			handle_stop(t, info.si_pid, info.si_status);
		else
			(void)waitpid(info.si_pid, NULL, WNOHANG | __WALL);
	}
}

/* Handle one message. Return false if the other end has closed the socket. */
static bool handle_message(struct exit_tracer *t)
{
	struct exit_trace_message message;
	ssize_t n = recv(t->socket_fd, &message, sizeof(message), 0);

	if (n < 0 && errno == EINTR)
		return true;
	if (n != (ssize_t)sizeof(message))
		return false;
	if (message.kind == EXIT_TRACE_ADD &&
	    ptrace(PTRACE_SEIZE, message.pid, NULL,
		   (void *)(intptr_t)PTRACE_O_TRACEEXIT) < 0 &&
	    errno != ESRCH)
		send_message(t, EXIT_TRACE_REFUSED, message.pid, -errno);
	for (size_t i = 0; message.kind == EXIT_TRACE_RELEASE && i < t->held_count; i++)
		if (t->held[i].pid == message.pid)
			release_process(t, i--);
	return true;
}

static int timeout_ms(const struct exit_tracer *t)
{
	uint64_t now = clock_now_ns(), due = t->silent_ns;

	for (size_t i = 0; i < t->held_count; i++)
		if (t->held[i].until_ns < due)
			due = t->held[i].until_ns;
	return due > now ? (int)((due - now) / NS_PER_MS) + 1 : 0;
}

static void release_overdue(struct exit_tracer *t)
{
	uint64_t now = clock_now_ns();

	for (size_t i = 0; i < t->held_count; i++)
		if (t->held[i].until_ns <= now)
			release_process(t, i--);
}

int exit_trace_serve(int socket_fd, uint64_t silence_ns)
{
	struct exit_tracer tracer = { .socket_fd = socket_fd };
	struct signalfd_siginfo info;
	_cleanup_close_ int signal_fd = -1;
	sigset_t set;

	/*
	 * the kernel does not report stops while SIGCHLD is ignored or has SA_NOCLDSTOP
	 */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signal_fd < 0)
		return -errno;
	tracer.silent_ns = clock_now_ns() + silence_ns;
	while (clock_now_ns() < tracer.silent_ns) {
		struct pollfd polled[] = { { socket_fd, POLLIN, 0 },
					   { signal_fd, POLLIN, 0 } };

		if (poll(polled, 2, timeout_ms(&tracer)) < 0 && errno != EINTR)
			return -errno;
		while (read(signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
			;
		handle_changes(&tracer);
		release_overdue(&tracer);
		if (polled[0].revents && !handle_message(&tracer))
			return 0;
		if (polled[0].revents)
			tracer.silent_ns = clock_now_ns() + silence_ns;
	}
	return 0;
}
