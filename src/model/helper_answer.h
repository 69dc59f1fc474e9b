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
 * Bounds on the resident bytes of each owner. The allocator counts bytes and smaps counts
 * pages. Of the memory that may belong to the allocator, resident_bytes are resident and
 * missing_bytes are not. The resident part of the bytes the allocator reports for an
 * owner is therefore between
 *     said - missing  and  min(said, resident)
 * The allocator does not know which of its free blocks cover whole pages. The upper bound
 * of pool_pages is therefore all free memory, and the lower bound of pool_fragments is 0.
 */
struct heap_bounds {
	uint64_t resident_bytes; /* resident memory that may be the allocator's */
	uint64_t missing_bytes;	 /* likewise: mapped, but without a page */
	/* BYTES_UNKNOWN: not reported separately; another owner's figure includes them */
	uint64_t said_bytes[OWNER_HEAP_LAST + 1];
	uint64_t least_bytes[OWNER_HEAP_LAST + 1];
	uint64_t most_bytes[OWNER_HEAP_LAST + 1];
	/*
	 * Between least and most, in sum at most
	 * resident_bytes; the matrix shows these.
	 */
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1];
};

struct helper_answer {
	bool was_wanted; /* false: the other fields are empty */
	int error;	 /* 0, or the -errno that prevented the query */
	/* The reason as a phrase without a full stop; NULL: it succeeded. Static. */
	const char *problem;
	/* Injected while the process ran; false: preloaded at its start. */
	bool was_put_in;
	/* Times one thread was stopped for the injection, and for how long in total. */
	unsigned int stop_count;
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
