/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * child - the command that memstate runs.
 */
#ifndef MS_CMD_CHILD_H
#define MS_CMD_CHILD_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct child {
	pid_t pid; /* 0: none */
	bool has_ended;
	int wait_status; /* of waitpid(), once it has ended */
	struct rusage usage; /* likewise: its own, and that of those that it has waited for */
};

/* What it is started with. */
struct child_setup {
	int input_fd, output_fd, error_fd; /* its standard files; -1: memstate's own */
	char *const *environment; /* NULL: memstate's own */
	bool has_own_group; /* of processes */
};

/*
 * Start argv and return when it has exec'd.
 * Returns 0, or -errno of what kept it from starting (-ENOENT: not found).
 */
int child_start(struct child *child, char **argv, const struct child_setup *setup);

/* Look whether it has ended. */
void child_poll(struct child *child);

/* Pass a signal on, if it still runs. */
void child_signal(const struct child *child, int number);

/* Wait for its end. A second INT, TERM or HUP ends the wait. */
void child_wait(struct child *child);

/* Say how it ended on stderr. */
void child_report(const struct child *child, const char *name);

#endif
