/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * allocator_stats - what an allocator says of itself when it is asked, in the process.
 * Plain data.
 *
 * Its own words count bytes, resident or not: mapped onto owners they are a bound.
 */
#ifndef MS_MODEL_ALLOCATOR_STATS_H
#define MS_MODEL_ALLOCATOR_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/heap.h"

/* One figure as the allocator names it: "uordblks", "stats.allocated", "current_rss". */
struct allocator_value {
	const char *name; /* static */
	uint64_t value;
	bool is_count; /* else bytes */
};

#define ALLOCATOR_VALUE_MAX 32

struct allocator_stats {
	enum allocator allocator;
	uint64_t taken_ns;  /* monotonic clock */
	uint64_t cost_ns;   /* how long the answer took inside the process */
	/* BYTES_UNKNOWN: it does not say */
	uint64_t system_bytes;	 /* what it has from the kernel */
	uint64_t live_bytes;	 /* handed out */
	uint64_t pool_bytes;	 /* freed, and kept */
	uint64_t meta_bytes;	 /* its own data */
	uint64_t resident_bytes; /* of all of it, as it thinks */
	struct heap_mallinfo mallinfo; /* glibc's */
	struct allocator_value values[ALLOCATOR_VALUE_MAX];
	size_t value_count;
	char *text; /* malloc_info(3)'s XML, mi_stats_print_out()'s table; NULL if not asked for. Owned. */
};

void allocator_stats_release(struct allocator_stats *stats);

#endif
