/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks - read the stack files of all programs into which the counting library was
 * preloaded.
 *
 * memstate only reads these files, which does not disturb the programs. It does not trust
 * their contents: a stack with invalid contents is counted as lost.
 */
#ifndef MS_PROBE_COUNT_STACKS_H
#define MS_PROBE_COUNT_STACKS_H

#include <stddef.h>

#include "model/stacks.h"
#include "probe/count/count.h"

/*
 * The environment variable that selects the recorded data. Its value is empty, or
 * contains one or both of the words "live" and "sample=BYTES", separated by a comma.
 */
extern const char stack_mode_variable[];

/* The recorded stacks of several programs. */
struct stacks_list {
	/* stacks of each program, sorted by pid, then by generation */
	struct stacks *items;
	size_t count, capacity;
	size_t unreadable_count; /* number of files that are not valid stack files */
};

#define STACKS_LIST_INIT      \
	{                     \
		NULL, 0, 0, 0 \
	}

void stacks_list_release(struct stacks_list *list);

/*
 * Empty *list, then read all stack files of a folder into it. Return 0, or -errno if the
 * folder cannot be read.
 */
int stacks_folder_read(const struct count_folder *folder, struct stacks_list *list);

/*
 * Read stacks from memory that has the layout of a stack file; ret->generation stays 0.
 * Return 0, or -EBADMSG if the contents are invalid.
 */
int stacks_read(const void *bytes, size_t length, struct stacks *ret);

#endif
