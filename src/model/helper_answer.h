/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helper_answer - what came of asking a process's allocator through a helper inside it.
 * Plain data.
 */
#ifndef MS_MODEL_HELPER_ANSWER_H
#define MS_MODEL_HELPER_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/allocator_stats.h"
#include "model/matrix.h"

/*
 * An allocator counts bytes, and smaps pages. All that it has lies in memory of which so
 * much is resident and so much is not: what is resident of the bytes it calls its own, by
 * owner, is between
 *     said - missing  and  min(said, resident)
 * Free memory that it does not know as whole pages may come to such: pool_pages is then
 * at most all that is free, and pool_fragments at least nothing.
 */
struct heap_bounds {
	uint64_t resident_bytes; /* of the memory that may be the allocator's */
	uint64_t missing_bytes;	 /* of the same: mapped, but without a page */
	/* BYTES_UNKNOWN: it does not tell them from others; said of these includes them then */
	uint64_t said_bytes[OWNER_HEAP_LAST + 1];
	uint64_t least_bytes[OWNER_HEAP_LAST + 1];
	uint64_t most_bytes[OWNER_HEAP_LAST + 1];
	/* between these, and together not more than resident_bytes: what the matrix shows */
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1];
};

struct helper_answer {
	bool was_wanted; /* false: there is nothing below */
	int error;	 /* 0, or the -errno for which there are no figures */
	const char *problem;	 /* why, in words that end no sentence; NULL: there are. Static. */
	bool was_put_in;	 /* into a process that ran; else it was there from the start */
	unsigned int stop_count; /* of one thread, for that, and how long they were together */
	uint64_t stopped_ns;
	struct allocator_stats stats;
	struct heap_bounds bounds;
};

static inline bool helper_answer_is_known(const struct helper_answer *answer)
{
	return answer->was_wanted && answer->error == 0;
}

void helper_answer_release(struct helper_answer *answer);

#endif
