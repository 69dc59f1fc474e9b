/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hooks_blind - list the calls that the hooks in a process do not count. */
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
	 * number of files with patched addresses or calls that were loaded
	 * after counting began
	 */
	size_t late_file_count;
	/*
	 * number of addresses and calls that refer to functions other
	 * than the allocator's
	 */
	size_t other_count;
	/*
	 * number of copies of function addresses that are not redirected; see
	 * struct hook_places
	 */
	size_t missed_count;
	uint64_t unread_bytes;
	struct heap_words heap;
	bool has_looked; /* hooks_blind_look_at_heap() has been called */
	/*
	 * end of [heap] when counting began, and at the last reading, or 0 if
	 * there is no [heap]
	 */
	uint64_t first_heap_end_addr, heap_end_addr;
	/* how much of the growth of [heap] the counted calls cannot explain */
	uint64_t unexplained_bytes;
};

/*
 * Initialise *unseen with the calls that are known not to be counted
 * when counting begins.
 */
void hooks_blind_begin(struct hooks_blind *unseen, const struct hook_places *places);

/* Record the end address of [heap]. Call this before the counts are read. */
void hooks_blind_look_at_heap(struct hooks_blind *unseen, int process_fd);

/* Compare the growth of [heap] with what the counted calls requested. */
void hooks_blind_check_growth(struct hooks_blind *unseen,
			      const struct count_program *program);

/* Append a list, separated by commas, of the calls that are not counted. */
void hooks_blind_add(const struct hooks_blind *unseen, struct strbuf *out);

/*
 * Append why the counts are incomplete, worded as a message that does not name the
 * process. Append nothing unless some calls are known not to be counted, or function
 * pointers were not searched for.
 */
void hooks_blind_add_missed(const struct hooks_blind *unseen, struct strbuf *out);

#endif
