/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/core/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "cmd/core/signals.h"

/* exit statuses of a shell that cannot find or run the program */
#define SHELL_NOT_EXECUTABLE 126
#define SHELL_NOT_FOUND 127

#define DEFAULT_PAGER "less"

/*
 * Return true if memstate has the privileges of a user other than the user
 * at the terminal.
 */
static bool is_elevated(void)
{
	return geteuid() != getuid() || getegid() != getgid() || getenv("SUDO_UID") ||
	       getenv("PKEXEC_UID");
}

static bool is_no(const char *value)
{
	return strcmp(value, "0") == 0 || strcasecmp(value, "no") == 0 ||
	       strcasecmp(value, "false") == 0 || strcasecmp(value, "off") == 0;
}

struct pager {
	const char *command; /* command of the pager; NULL: the pager is disabled */
	bool is_secure;	     /* true if the pager must not run commands or write files */
};

/*
 * Find the command of the pager. Most pagers can run other programs, with the
 * privileges of memstate. If these privileges are elevated, run only less, in its
 * secure mode, unless MEMSTATE_PAGERSECURE is set. systemd does the same
 * (SYSTEMD_PAGERSECURE in systemctl(1)).
 */
static struct pager find_pager(void)
{
	const char *secure = getenv("MEMSTATE_PAGERSECURE");
	const char *command = getenv("MEMSTATE_PAGER");
	struct pager pager = { .is_secure = secure ? !is_no(secure) : is_elevated() };

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = DEFAULT_PAGER;
	if (command[0] == '\0' || strcmp(command, "cat") == 0)
		return pager;
	pager.command = pager.is_secure && !secure ? DEFAULT_PAGER : command;
	return pager;
}

/* Ignore keyboard signals while the pager has the terminal. less handles ^C itself. */
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

/* Run the pager in the child process. */
_Noreturn static void run_pager(const struct pager *pager, int input_fd, int error_fd)
{
	const char *command = pager->command;
	int err;

	dup2(input_fd, STDIN_FILENO);
	signals_reset_in_child();
	/*
	 * options of less: F exits if the text fits on the screen, R passes colours to
	 * the terminal, and X does not clear the screen
	 */
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	if (pager->is_secure)
		setenv("LESSSECURE", "1", 1);
	/* use a shell only if there are arguments or special characters, as git does */
	if (command[strcspn(command, "|&;<>()$`\\\"' \t\n*?[#~=%")] == '\0')
		execlp(command, command, (char *)NULL);
	else
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	err = errno;
	(void)io_write_all(error_fd, (const char *)&err, sizeof(err));
	_exit(SHELL_NOT_FOUND);
}

/*
 * Fork, restore the signal actions in `keys` in the child, and run the pager there.
 * Return the pager's pid and store a descriptor for writing to it, or return -errno.
 */
static pid_t start_pager(const struct pager *pager, const struct sigaction keys[2],
			 int *ret_fd)
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
		run_pager(pager, text[0], error[1]);
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

/*
 * End memstate with the signal that ended the pager, so that a loop in a shell script
 * also ends.
 */
static void kill_self(int number)
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
	const struct pager pager = find_pager();
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction keys[2], pipe_before;
	int fd = -1, status = 0;
	pid_t pid;

	if (!pager.command)
		return -ENOENT;
	/* ignore keyboard signals before the pager starts, because ^C may come early */
	ignore_keys(keys);
	pid = start_pager(&pager, keys, &fd);
	if (pid < 0) {
		restore_keys(keys);
		return pid;
	}
	sigaction(SIGPIPE, &ignore, &pipe_before);
	/* writing fails without harm if the user has already quit the pager */
	(void)io_write_all(fd, text, length);
	close(fd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGPIPE, &pipe_before, NULL);
	restore_keys(keys);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)
		kill_self(SIGINT);
	return WIFEXITED(status) && (WEXITSTATUS(status) == SHELL_NOT_FOUND ||
				     WEXITSTATUS(status) == SHELL_NOT_EXECUTABLE)
		       ? -ENOENT
		       : 0;
}
