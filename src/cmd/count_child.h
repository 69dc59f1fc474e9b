/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_child - a command that is run with the library preloaded that counts, and what was
 * counted of it.
 */
#ifndef MS_CMD_COUNT_CHILD_H
#define MS_CMD_COUNT_CHILD_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/child.h"
#include "model/comparison.h"
#include "probe/count.h"

/* As env(1) and timeout(1) end, where the command's own status cannot be had. */
enum {
	EXIT_NOT_COUNTED = 125,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_BY_SIGNAL = 128, /* plus its number */
};

struct count_what {
	enum count_library library;
	const char *stack_mode; /* what its variable says, of COUNT_LIBRARY_STACKS. Borrowed */
};

struct count_child {
	char **command;			 /* argv, borrowed */
	const struct variant *allocator; /* to be preloaded behind it; NULL: none. Borrowed */
	struct count_what what;
	int input_fd, output_fd; /* of the command; -1: memstate's own */
	struct child child;
	struct count_folder folder;
	struct count_list list;
	const struct count_program *own; /* of the list: see count_list_find_command() */
	uint64_t start_ns;
	uint64_t copy_rss_bytes; /* what memstate's copy has that becomes the command; about */
};

#define COUNT_CHILD_INIT                                                                           \
	{                                                                                          \
		.input_fd = -1, .output_fd = -1, .folder = COUNT_FOLDER_INIT                       \
	}

/*
 * Whether the library can be preloaded into a command of that name. Returns EXIT_DONE; or
 * the status to end with, after the message has been given. So do the three below.
 */
int count_child_check(const char *name);

/*
 * Make the folder, and an environment for a command that is to be counted with that
 * allocator (NULL: its own): to be given to environment_free().
 */
int count_child_prepare(const struct variant *allocator, const struct count_what *what,
			struct count_folder *folder, char ***ret_environment);

/* What comes before the folder is set. */
int count_child_start(struct count_child *child);

/*
 * Read what was counted up to now into the list, and find the command's own. Returns 0;
 * -ENOENT: nothing was counted of the command (yet); or -errno of the folder.
 */
int count_child_read(struct count_child *child);

/* The same at its end: that nothing was counted, or cannot be, is an error that is said. */
int count_child_read_end(struct count_child *child);

/* Say what else a person may want to know of what was counted. */
void count_child_hint(const struct count_child *child, bool with_children);

/*
 * To be asked while the command runs, with *stops = signals_stop_count() at first: passes
 * on what memstate was told. ^C reaches the command by itself. False: this is the second
 * time, and it is not waited for any longer.
 */
bool count_child_goes_on(struct count_child *child, int *stops);

/* The status of the command, as a shell has it; a signal that ended it is said. */
int count_child_status(const struct count_child *child);

/*
 * The most memory that was resident of its process, or of the largest that this one waited
 * for, once it has ended. Unknown where the kernel's answer may be of memstate's copy.
 */
uint64_t count_child_peak_rss(const struct count_child *child);

/* Given back is what count_child_start() has taken; another start may follow. */
void count_child_release(struct count_child *child);

#endif
