/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_child - run a command with the counting library preloaded, and read the counts.
 */
#ifndef MS_CMD_RUN_COUNT_CHILD_H
#define MS_CMD_RUN_COUNT_CHILD_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/run/child.h"
#include "model/comparison.h"
#include "probe/count/count.h"

/* Exit statuses of env(1) and timeout(1) for a command without an exit status. */
enum {
	EXIT_NOT_COUNTED = 125,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	/* base of the status after a signal, to which the signal's number is added */
	EXIT_BY_SIGNAL = 128,
};

struct count_what {
	enum count_library library;
	/*
	 * Program whose calls of additional entry points, such as mallocx, are also
	 * counted. Borrowed; NULL: no program.
	 */
	const char *command;
	/*
	 * value of the environment variable that selects what the counting library
	 * records; borrowed
	 */
	const char *stack_mode;
};

struct count_child {
	char **command; /* command and its arguments; borrowed */
	/* allocator to preload after the counting library, or NULL; borrowed */
	const struct variant *allocator;
	struct count_what what;
	/* standard streams of the command; -1: those of memstate */
	int input_fd, output_fd;
	struct child child;
	struct count_folder folder;
	struct count_list list;
	/* the command's own entry in list, from count_list_find_command() */
	const struct count_program *own;
	uint64_t start_ns;
	/* approximate Rss of the forked copy of memstate that execs the command */
	uint64_t copy_rss_bytes;
};

#define COUNT_CHILD_INIT                                                     \
	{                                                                    \
		.input_fd = -1, .output_fd = -1, .folder = COUNT_FOLDER_INIT \
	}

/*
 * Check that the counting library can be preloaded into the named command. Return
 * EXIT_DONE, or print a message and return another exit status.
 */
int count_child_check(const char *name);

/*
 * Create the folder for the counts, and the environment for a command that is counted
 * with the given allocator (NULL: the command's own). The caller releases the environment
 * with environment_free(). Return EXIT_DONE, or print a message and return another
 * exit status.
 */
int count_child_prepare(const struct variant *allocator, const struct count_what *what,
			struct count_folder *folder, char ***ret_environment);

/*
 * Start the command. The caller must have set all members that precede `child`. Return
 * EXIT_DONE, or print a message and return another exit status.
 */
int count_child_start(struct count_child *child);

/*
 * Read the counts so far into the list, and find the command's own entry. Return 0;
 * -ENOENT if nothing has been counted for the command yet; or -errno if the folder cannot
 * be read.
 */
int count_child_read(struct count_child *child);

/*
 * Read the final counts after the command has ended. Print a message if counts are
 * missing or unreadable. Return EXIT_DONE, or print a message and return another
 * exit status.
 */
int count_child_read_end(struct count_child *child);

/* Print hints about the counts, for example about processes that were not counted. */
void count_child_hint(const struct count_child *child, bool with_children);

/*
 * Forward stop signals to the command, and return true if the caller should still wait
 * for it. Return false at the second stop signal. Call this function repeatedly while the
 * command runs, with *stops = signals_stop_count() before the first call. SIGINT is not
 * forwarded, because the terminal also sends it to the command.
 */
bool count_child_must_wait(struct count_child *child, int *stops);

/*
 * Return the command's exit status as a shell reports it. Print a message about a
 * fatal signal.
 */
int count_child_status(const struct count_child *child);

/*
 * Return the peak Rss in bytes of the command, or of the largest process for which it
 * waited. Call this function after the command has ended. Return BYTES_UNKNOWN if the
 * kernel's figure may be that of memstate's own copy before exec.
 */
uint64_t count_child_peak_rss(const struct count_child *child);

/*
 * Release all resources that count_child_start() acquired. The command may be
 * started again.
 */
void count_child_release(struct count_child *child);

#endif
