/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile - show profiles of allocations by call stack, from a command that has ended, or
 * from a file.
 */
#ifndef MS_CMD_COUNT_PROFILE_H
#define MS_CMD_COUNT_PROFILE_H

#include "base/strbuf.h"
#include "cmd/core/options.h"
#include "model/count.h"
#include "model/stacks.h"
#include "probe/count/count.h"

/*
 * Reject mutually exclusive options. Return EXIT_DONE, or print a message and return
 * EXIT_BAD_USAGE.
 */
int count_profile_check_usage(const struct options *o);

/*
 * Append a value for the environment variable stack_mode_variable. The value selects what
 * the counting library records.
 */
void count_profile_add_mode(const struct options *o, struct strbuf *out);

/* The source of the recorded stacks. All pointers are borrowed. */
struct count_profile_origin {
	/* folder with the recorded stacks; NULL: the stacks have already been read */
	const struct count_folder *folder;
	const struct count_list *list;
	/* program to show, which is an element of list; NULL: all programs of the list */
	const struct count_program *only;
	char **command; /* the command and its arguments */
	uint64_t elapsed_ns;
};

/*
 * Read the recorded stacks, save them if requested, and show the profile. Return
 * EXIT_DONE, or print a message and return EXIT_FAILED.
 */
int count_profile_show(const struct options *o,
		       const struct count_profile_origin *origin);

/*
 * Save and show the stacks of processes to which memstate attached, like
 * count_profile_show(). The function uses only the members command and
 * elapsed_ns of *origin.
 */
int count_profile_show_attached(const struct options *o, struct stacks *stacks,
				size_t count, const struct count_profile_origin *origin);

/* Show a profile from a file (--replay). Return an enum exit_status. */
int count_profile_replay(const struct options *o);

#endif
