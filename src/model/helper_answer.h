/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helper_answer - the result of querying a process's allocator through a helper inside
 * the process. Plain data.
 */
#ifndef MS_MODEL_HELPER_ANSWER_H
#define MS_MODEL_HELPER_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/allocator_stats.h"
#include "model/matrix.h"

/*
 * Bounds on the resident bytes of each owner. The allocator counts bytes whether resident
 * or not, and smaps counts resident pages. Of the memory that may belong to the
 * allocator, resident_bytes are resident and missing_bytes are not. The resident part of
 * an owner's reported bytes is therefore between
 *    reported - missing  and  min(reported, resident)
 * The allocator does not know which of its free blocks cover whole pages. The upper bound
 * of pool_pages is therefore all free memory, and the lower bound of pool_fragments is 0.
 */
struct heap_bounds {
	/* Resident size of the memory that may belong to the allocator. */
	uint64_t resident_bytes;
	/* Size of the memory that may belong to the allocator and is not resident. */
	uint64_t missing_bytes;
	/*
	 * The allocator's own figures. BYTES_UNKNOWN if the allocator counts the bytes of
	 * the owner as part of another owner.
	 */
	uint64_t reported_bytes[OWNER_HEAP_LAST + 1];
	uint64_t min_bytes[OWNER_HEAP_LAST + 1];
	uint64_t max_bytes[OWNER_HEAP_LAST + 1];
	/*
	 * Estimates of the resident bytes of each owner. Each estimate is between
	 * min_bytes and max_bytes, and their sum is at most resident_bytes.
	 */
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1];
};

struct helper_answer {
	/* true if the user requested a query; if false, the other fields are empty */
	bool was_requested;
	int error; /* 0, or the -errno with which the query failed */
	/*
	 * Why the query failed: a static phrase without a full stop. NULL if the query
	 * succeeded.
	 */
	const char *problem;
	/*
	 * true if memstate injected the helper into the running process, false if the
	 * helper was preloaded when the program started
	 */
	bool was_injected;
	/*
	 * How many times memstate stopped a thread for the injection, and for how long in
	 * total.
	 */
	unsigned int stop_count;
	uint64_t stopped_ns;
	struct allocator_stats stats;
	struct heap_bounds bounds;
};

static inline bool helper_answer_is_known(const struct helper_answer *answer)
{
	return answer->was_requested && answer->error == 0;
}

void helper_answer_release(struct helper_answer *answer);

#endif
