/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * child - the command that memstate runs.
 */
#ifndef MS_CMD_RUN_CHILD_H
#define MS_CMD_RUN_CHILD_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct child {
	pid_t pid; /* 0: no child */
	bool has_ended;
	int wait_status; /* from waitpid(2), once the child has ended */
	/* likewise: of the child and the descendants it waited for */
	struct rusage usage;
};

/* How to start the command. */
struct child_setup {
	int input_fd, output_fd, error_fd; /* its standard streams; -1: memstate's own */
	char *const *environment;	   /* NULL: memstate's own */
	bool has_own_group;		   /* start it in a new process group */
};

/*
 * Start argv and return once it has exec'd. Returns 0, or -errno if it could not be
 * started (-ENOENT: command not found).
 */
int child_start(struct child *child, char **argv, const struct child_setup *setup);

/* Check without blocking whether the child has ended, and reap it. */
void child_poll(struct child *child);

/* Send the signal to the child, if it still runs. */
void child_signal(const struct child *child, int number);

/* Wait until the child ends. A second INT, TERM or HUP ends the wait. */
void child_wait(struct child *child);

/* Report on stderr how the child ended. */
void child_report(const struct child *child, const char *name);

#endif
