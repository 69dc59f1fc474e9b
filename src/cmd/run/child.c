/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "cmd/core/message.h"
#include "cmd/core/signals.h"

static _Noreturn void exec_command(char **argv, const struct child_setup *setup,
				   int report_fd)
{
	const int fds[] = { setup->input_fd, setup->output_fd, setup->error_fd };
	int err;

	signals_reset_in_child();
	for (int i = 0; i < 3; i++)
		if (fds[i] >= 0 && dup2(fds[i], i) < 0)
			_exit(126);
	if (setup->has_own_group)
		setpgid(0, 0);
	execvpe(argv[0], argv, setup->environment ? setup->environment : environ);
	err = errno;
	if (write(report_fd, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

int child_start(struct child *child, char **argv, const struct child_setup *setup)
{
	_cleanup_close_ int report_fd = -1;
	int pipe_fds[2];
	int err = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -errno;
	report_fd = pipe_fds[0];
	pid = fork();
	if (pid == 0)
		exec_command(argv, setup, pipe_fds[1]);
	err = pid < 0 ? errno : 0;
	close(pipe_fds[1]);
	if (pid < 0)
		return -err;
	/* a successful exec closes the write end of the pipe, so read() returns 0 */
	do
		n = read(report_fd, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	if (n == sizeof(err)) {
		waitpid(pid, NULL, 0);
		return -err;
	}
	*child = (struct child){ .pid = pid };
	return 0;
}

/*
 * Detect the end of the child with WNOWAIT first. While another thread of memstate has
 * paused the child with ptrace, a plain waitpid() would consume the stop for which that
 * thread waits.
 */
void child_poll(struct child *child)
{
	siginfo_t info = { .si_pid = 0 };

	if (child->pid == 0 || child->has_ended ||
	    waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	    info.si_pid != child->pid || info.si_code == CLD_STOPPED ||
	    info.si_code == CLD_TRAPPED)
		return;
	child->has_ended = wait4(child->pid, &child->wait_status, WNOHANG,
				 &child->usage) == child->pid;
}

void child_signal(const struct child *child, int number)
{
	if (child->pid > 0 && !child->has_ended)
		kill(child->pid, number);
}

void child_wait(struct child *child)
{
	int stops = signals_stop_count();

	child_poll(child);
	while (child->pid > 0 && !child->has_ended && signals_stop_count() == stops) {
		signals_wait_until(clock_now_ns() + 60 * NS_PER_S);
		child_poll(child);
	}
}

void child_report(const struct child *child, const char *name)
{
	if (!child->has_ended)
		message("%s: still running (PID %d)", name, (int)child->pid);
	else if (WIFSIGNALED(child->wait_status))
		message("%s: killed by signal %d (%s)", name,
			WTERMSIG(child->wait_status),
			strsignal(WTERMSIG(child->wait_status)));
	else
		message("%s: exited with status %d", name,
			WEXITSTATUS(child->wait_status));
}
