/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_profile - the stacks that allocations were counted by: of a command that has
 * ended, or in a file.
 */
#ifndef MS_CMD_COUNT_PROFILE_H
#define MS_CMD_COUNT_PROFILE_H

#include "base/strbuf.h"
#include "cmd/options.h"
#include "model/count.h"
#include "model/stacks.h"
#include "probe/count.h"

/* Refuse options that do not go with each other: EXIT_BAD_USAGE, or EXIT_DONE. */
int count_profile_check_usage(const struct options *o);

/* Append what the library is to record (stack_mode_variable). */
void count_profile_add_mode(const struct options *o, struct strbuf *out);

/* What stacks were recorded of. All is borrowed. */
struct count_profile_origin {
	const struct count_folder *folder; /* NULL: they are there already */
	const struct count_list *list;
	const struct count_program *only; /* of the list; NULL: all of it */
	char **command;			  /* argv */
	uint64_t elapsed_ns;
};

/*
 * Read what was recorded, save it if that was asked for, and show it. Returns EXIT_DONE,
 * or EXIT_FAILED after the message.
 */
int count_profile_show(const struct options *o, const struct count_profile_origin *origin);

/* The same of processes that ran already; only command and elapsed_ns of origin count. */
int count_profile_show_attached(const struct options *o, struct stacks *stacks, size_t count,
				const struct count_profile_origin *origin);

/* The same of a file (--replay). Returns enum exit_status. */
int count_profile_replay(const struct options *o);

#endif
