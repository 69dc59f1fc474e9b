/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hooks_blind - the calls that the hooks in a process do not count. */
#ifndef MS_PROBE_COUNT_HOOKS_BLIND_H
#define MS_PROBE_COUNT_HOOKS_BLIND_H

#include <stddef.h>

#include "base/strbuf.h"
#include "probe/count/hook_places.h"

struct hooks_blind {
	/* number of files with places that were loaded after counting began */
	size_t late_file_count;
	size_t other_count; /* number of places that point to other functions */
	/* copies of addresses that are not redirected; see struct hook_places */
	size_t missed_count;
	uint64_t unread_bytes;
	struct heap_words heap;
};

/* Store what was found when counting began. */
void hooks_blind_begin(struct hooks_blind *unseen, const struct hook_places *places);

/* Append the calls that are not counted, separated by commas. */
void hooks_blind_add(const struct hooks_blind *unseen, struct strbuf *out);

/*
 * Append why the counts are incomplete, as a message without the process. Append nothing
 * unless some function pointers are known not to be counted, or were not searched for.
 */
void hooks_blind_add_missed(const struct hooks_blind *unseen, struct strbuf *out);

#endif
