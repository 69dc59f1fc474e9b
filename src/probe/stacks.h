/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks - read what the library that counts allocations by their stacks has written, in
 * all programs that it was preloaded into.
 *
 * As with counts (probe/count.h): programs do nothing for it, and nothing in the files is
 * believed. A stack that makes no sense is among those that were lost.
 */
#ifndef MS_PROBE_STACKS_H
#define MS_PROBE_STACKS_H

#include <stddef.h>

#include "model/stacks.h"
#include "probe/count.h"

/*
 * What is recorded a program is told by this variable of the environment: "", or words
 * with commas between, "live" and "sample=BYTES".
 */
extern const char stack_mode_variable[];

/* Of one program each. */
struct stacks_list {
	struct stacks *items; /* by pid, then by generation */
	size_t count, capacity;
	size_t unreadable_count; /* files that are none */
};

#define STACKS_LIST_INIT { NULL, 0, 0, 0 }

void stacks_list_release(struct stacks_list *list);

/* Read all of a folder: *list is emptied first. Returns 0 or -errno of the folder. */
int stacks_folder_read(const struct count_folder *folder, struct stacks_list *list);

/*
 * Read what is in memory, laid out as in a file; generation stays 0. Returns 0, or
 * -EBADMSG if it is none.
 */
int stacks_read(const void *bytes, size_t length, struct stacks *ret);

#endif
