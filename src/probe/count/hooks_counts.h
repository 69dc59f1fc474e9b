/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hooks_counts - read the counts that the hooks store in memory shared with the process.
 * The process may change the counts at any time, so memstate works on a copy.
 */
#ifndef MS_PROBE_COUNT_HOOKS_COUNTS_H
#define MS_PROBE_COUNT_HOOKS_COUNTS_H

#include <stddef.h>

#include "agent/count/abi.h"
#include "model/count.h"

/*
 * The most recent copy of the counts, which are all 0 before the first copy. Only one
 * thread at a time may use this struct.
 */
struct hooks_counts {
	char *bytes;
	size_t capacity; /* size of the buffer in bytes */
};

/*
 * Copy the counts of the process with this pid, and parse them like count_read_program().
 * parent_pid and name of *p stay unchanged, because the shared memory does not contain
 * them. If the process moves counts between slots during the copy, the function repeats
 * the copy up to twice. Return 0 or -EBADMSG.
 */
int hooks_counts_read(struct hooks_counts *copy, const struct count_head *counts, int pid,
		      struct count_program *p);

void hooks_counts_release(struct hooks_counts *copy);

#endif
