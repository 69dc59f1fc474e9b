/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks - read the stack files that the preloaded counting library has written, for all
 * programs that it was preloaded into.
 *
 * As with counts (probe/count/count.h), reading needs nothing from the programs, and nothing in
 * the files is trusted. A stack that makes no sense is counted as lost.
 */
#ifndef MS_PROBE_COUNT_STACKS_H
#define MS_PROBE_COUNT_STACKS_H

#include <stddef.h>

#include "model/stacks.h"
#include "probe/count/count.h"

/*
 * Name of the environment variable that selects what a program records: "", or the words
 * "live" and "sample=BYTES" separated by commas.
 */
extern const char stack_mode_variable[];

/* One element per program. */
struct stacks_list {
	struct stacks *items; /* sorted by pid, then by generation */
	size_t count, capacity;
	size_t unreadable_count; /* files that are not stack files */
};

#define STACKS_LIST_INIT      \
	{                     \
		NULL, 0, 0, 0 \
	}

void stacks_list_release(struct stacks_list *list);

/*
 * Read all stack files of a folder; *list is emptied first. Return 0, or
 * -errno for the folder.
 */
int stacks_folder_read(const struct count_folder *folder, struct stacks_list *list);

/*
 * Read stacks from memory with the layout of a file; generation stays 0. Return 0, or
 * -EBADMSG if the memory is not a stack file.
 */
int stacks_read(const void *bytes, size_t length, struct stacks *ret);

#endif
