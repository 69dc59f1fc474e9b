/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * allocator_stats - the figures that an allocator reports about itself when a helper in
 * the process queries it. Plain data.
 *
 * Allocators count bytes whether resident or not. When reports divide resident memory by
 * owner, these figures therefore serve only as bounds.
 */
#ifndef MS_MODEL_ALLOCATOR_STATS_H
#define MS_MODEL_ALLOCATOR_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/heap.h"

/*
 * One of the allocator's figures, under the allocator's own name for it, such as
 * "uordblks", "stats.allocated" or "current_rss".
 */
struct allocator_value {
	const char *name; /* string constant, never freed */
	uint64_t value;
	bool is_count; /* true if the value is a count, false if it is in bytes */
};

#define ALLOCATOR_VALUE_MAX 32

struct allocator_stats {
	enum allocator allocator;
	uint64_t taken_ns; /* when the allocator was queried, on the monotonic clock */
	uint64_t cost_ns;  /* how long the query took inside the process */
	/*
	 * The figures from system_bytes to resident_bytes are BYTES_UNKNOWN if the
	 * allocator does not report them.
	 */
	uint64_t system_bytes; /* bytes that the allocator obtained from the kernel */
	uint64_t live_bytes;   /* bytes allocated to the program */
	uint64_t pool_bytes;   /* bytes that the program freed and the allocator kept */
	uint64_t meta_bytes;   /* bytes of the allocator's own data */
	/* The allocator's own estimate of how much of its memory is resident. */
	uint64_t resident_bytes;
	struct heap_mallinfo mallinfo; /* fields of mallinfo2(3); set for glibc only */
	struct allocator_value values[ALLOCATOR_VALUE_MAX];
	size_t value_count;
	/*
	 * Output of malloc_info(3), which is XML, or of mi_stats_print_out();
	 * NULL if not requested. Owned.
	 */
	char *text;
};

void allocator_stats_release(struct allocator_stats *stats);

#endif
