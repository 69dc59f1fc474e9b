/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/core/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "cmd/core/signals.h"

/* status with which a shell exits if it cannot find or run the program */
#define SHELL_NOT_EXECUTABLE 126
#define SHELL_NOT_FOUND 127

/* Return the command of the pager, or NULL if the user wants none. */
static const char *find_command(void)
{
	const char *command = getenv("MEMSTATE_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	return command[0] == '\0' || strcmp(command, "cat") == 0 ? NULL : command;
}

/* Keep memstate alive while the pager has the terminal: less handles ^C itself. */
static void ignore_keys(struct sigaction before[2])
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGINT, &ignore, &before[0]);
	sigaction(SIGQUIT, &ignore, &before[1]);
}

static void restore_keys(const struct sigaction before[2])
{
	sigaction(SIGINT, &before[0], NULL);
	sigaction(SIGQUIT, &before[1], NULL);
}

/* Run the pager; called in the child. */
_Noreturn static void run_pager(const char *command, int input_fd, int error_fd)
{
	int err;

	dup2(input_fd, STDIN_FILENO);
	signals_reset_in_child();
	/* quit if the text fits, keep colours, and leave the screen as it is */
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	/* as git does: the shell is needed only for arguments and special characters */
	if (command[strcspn(command, "|&;<>()$`\\\"' \t\n*?[#~=%")] == '\0')
		execlp(command, command, (char *)NULL);
	else
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	err = errno;
	(void)io_write_all(error_fd, (const char *)&err, sizeof(err));
	_exit(SHELL_NOT_FOUND);
}

/*
 * Fork and run the pager with the actions in keys. Returns its pid and stores the pipe to
 * it, or -errno.
 */
static pid_t start_pager(const char *command, const struct sigaction keys[2], int *ret_fd)
{
	int text[2], error[2], err = 0;
	pid_t pid;

	if (pipe2(text, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(error, O_CLOEXEC) < 0) {
		err = errno;
		close(text[0]);
		close(text[1]);
		return -err;
	}
	pid = fork();
	if (pid == 0) {
		restore_keys(keys);
		run_pager(command, text[0], error[1]);
	}
	err = pid < 0 ? errno : 0;
	close(text[0]);
	close(error[1]);
	while (pid > 0 && read(error[0], &err, sizeof(err)) < 0 && errno == EINTR)
		;
	close(error[0]);
	if (err == 0) {
		*ret_fd = text[1];
		return pid;
	}
	close(text[1]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return -err;
}

/* End memstate with the same signal as the pager, so that a shell's loop ends, too. */
static void die_of(int number)
{
	sigset_t set;

	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
}

int pager_show(const char *text, size_t length)
{
	const char *command = find_command();
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction keys[2], pipe_before;
	int fd = -1, status = 0;
	pid_t pid;

	if (!command)
		return -ENOENT;
	/* before the pager runs: ^C may come as soon as the user sees the pager */
	ignore_keys(keys);
	pid = start_pager(command, keys, &fd);
	if (pid < 0) {
		restore_keys(keys);
		return pid;
	}
	sigaction(SIGPIPE, &ignore, &pipe_before);
	/* the reader may quit at any time */
	(void)io_write_all(fd, text, length);
	close(fd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGPIPE, &pipe_before, NULL);
	restore_keys(keys);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)
		die_of(SIGINT);
	return WIFEXITED(status) && (WEXITSTATUS(status) == SHELL_NOT_FOUND ||
				     WEXITSTATUS(status) == SHELL_NOT_EXECUTABLE)
		       ? -ENOENT
		       : 0;
}
