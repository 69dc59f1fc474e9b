/* SPDX-License-Identifier: GPL-2.0-or-later */
/* child - start the command that memstate runs, and wait for its end. */
#ifndef MS_CMD_RUN_CHILD_H
#define MS_CMD_RUN_CHILD_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct child {
	pid_t pid; /* pid of the command; 0: no child */
	bool has_ended;
	int wait_status; /* status from waitpid(2) after the child has ended */
	/* resource usage of the ended child and of descendants that it waited for */
	struct rusage usage;
};

/* Settings for starting the command. */
struct child_setup {
	/* standard streams of the command; -1: those of memstate */
	int input_fd, output_fd, error_fd;
	/* environment of the command; NULL: that of memstate */
	char *const *environment;
	bool has_own_group; /* true to start the command in a new process group */
};

/*
 * Start argv, and return after exec has succeeded. Return 0, or -errno if argv could not
 * be started (-ENOENT: command not found).
 */
int child_start(struct child *child, char **argv, const struct child_setup *setup);

/* Reap the child if it has ended, without blocking. */
void child_poll(struct child *child);

/* Send the signal to the child if it is still running. */
void child_signal(const struct child *child, int number);

/* Wait until the child ends, or until the second INT, TERM or HUP arrives. */
void child_wait(struct child *child);

/* Print a message on stderr about how the child ended. */
void child_report(const struct child *child, const char *name);

#endif
