/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile - profiles of allocations by call stack, from a command that has
 * ended or from a file.
 */
#ifndef MS_CMD_COUNT_PROFILE_H
#define MS_CMD_COUNT_PROFILE_H

#include "base/strbuf.h"
#include "cmd/core/options.h"
#include "model/count.h"
#include "model/stacks.h"
#include "probe/count/count.h"

/*
 * Reject combinations of options that exclude each other. Returns EXIT_DONE, or
 * EXIT_BAD_USAGE after a message.
 */
int count_profile_check_usage(const struct options *o);

/* Append the value of stack_mode_variable, which tells the library what to record. */
void count_profile_add_mode(const struct options *o, struct strbuf *out);

/* Where recorded stacks come from. All pointers are borrowed. */
struct count_profile_origin {
	const struct count_folder *folder; /* NULL: the stacks have been read already */
	const struct count_list *list;
	/* points into list; NULL: all programs of the list */
	const struct count_program *only;
	char **command; /* argv */
	uint64_t elapsed_ns;
};

/*
 * Read the recorded stacks, save them if requested, and show the profile. Returns
 * EXIT_DONE, or EXIT_FAILED after a message.
 */
int count_profile_show(const struct options *o,
		       const struct count_profile_origin *origin);

/*
 * Do the same for processes that memstate attached to; uses only command and
 * elapsed_ns of origin.
 */
int count_profile_show_attached(const struct options *o, struct stacks *stacks,
				size_t count, const struct count_profile_origin *origin);

/* Show a profile from a file (--replay). Returns an enum exit_status. */
int count_profile_replay(const struct options *o);

#endif
