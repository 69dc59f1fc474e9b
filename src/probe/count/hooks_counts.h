/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_counts - read the counts that the hooks keep in memory shared with the process.
 * The process may change them at any time, so memstate reads from a copy.
 */
#ifndef MS_PROBE_COUNT_HOOKS_COUNTS_H
#define MS_PROBE_COUNT_HOOKS_COUNTS_H

#include <stddef.h>

#include "agent/count/abi.h"
#include "model/count.h"

/*
 * The last copy of the counts; all 0 before the first copy. One thread may
 * use it at a time.
 */
struct hooks_counts {
	char *bytes;
	size_t capacity; /* size of the buffer, in bytes */
};

/*
 * Copy the counts of the process with this pid, and read them as count_read_program()
 * does, except that parent_pid and name of *p stay unchanged: the shared memory does not
 * contain them. If counts are being moved between slots, the copy is repeated up to
 * twice. Return 0 or -EBADMSG.
 */
int hooks_counts_read(struct hooks_counts *copy, const struct count_head *counts, int pid,
		      struct count_program *p);

void hooks_counts_release(struct hooks_counts *copy);

#endif
