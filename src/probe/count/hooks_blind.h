/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hooks_blind - list the allocation calls that the hooks in a process cannot count. */
#ifndef MS_PROBE_COUNT_HOOKS_BLIND_H
#define MS_PROBE_COUNT_HOOKS_BLIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/count.h"
#include "probe/count/hook_places.h"

struct hooks_blind {
	/*
	 * number of files that were loaded after counting began and contain patched
	 * function addresses or calls
	 */
	size_t late_file_count;
	/*
	 * number of function addresses and calls that refer to a file other than
	 * the allocator's
	 */
	size_t other_count;
	/*
	 * number of copied function addresses that are not patched; see
	 * struct hook_places
	 */
	size_t missed_count;
	uint64_t unread_bytes;
	struct heap_words heap;
	bool has_looked; /* true once hooks_blind_look_at_heap() has been called */
	/*
	 * end address of [heap] when counting began, and when it was last recorded; 0 if
	 * there is no [heap]
	 */
	uint64_t first_heap_end_addr, heap_end_addr;
	/*
	 * growth of [heap] in bytes if the counted calls cannot explain it, otherwise 0
	 */
	uint64_t unexplained_bytes;
};

/*
 * Initialize *unseen with the calls that the hooks will not count. They follow from
 * `places`, the function addresses and calls that memstate found when counting began.
 */
void hooks_blind_begin(struct hooks_blind *unseen, const struct hook_places *places);

/* Record the end address of [heap]. Call this function before the counts are read. */
void hooks_blind_look_at_heap(struct hooks_blind *unseen, int process_fd);

/* Compare the growth of [heap] with the bytes that the counted calls requested. */
void hooks_blind_check_growth(struct hooks_blind *unseen,
			      const struct count_program *program);

/* Append a comma-separated list of the calls that are not counted. */
void hooks_blind_add(const struct hooks_blind *unseen, struct strbuf *out);

/*
 * Append the reasons why the counts are incomplete, without naming the process. Append
 * nothing if the counts are complete.
 */
void hooks_blind_add_missed(const struct hooks_blind *unseen, struct strbuf *out);

#endif
