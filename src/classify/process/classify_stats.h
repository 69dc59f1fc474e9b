/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify_stats - divide an allocator's resident memory among owners, according to the
 * allocator's own statistics. The functions are pure. The owners are:
 *
 * - live: memory in use; for glibc and jemalloc, including the thread caches.
 * - pool_pages: free memory in whole pages: gperftools' page heap, jemalloc's dirty
 *   pages, glibc's top chunk.
 * - pool_fragments: other free memory.
 * - heap_meta: the allocator's own data.
 *
 * An allocator reports how many bytes it has, but not which of them are resident, so the
 * results are bounds. Memory counts as the allocator's if it is private, anonymous,
 * writable and not a stack, and either has no name, is named [heap], or has a name that
 * contains "malloc".
 */
#ifndef MS_CLASSIFY_PROCESS_CLASSIFY_STATS_H
#define MS_CLASSIFY_PROCESS_CLASSIFY_STATS_H

#include "model/heap.h"
#include "model/helper_answer.h"
#include "model/mapping.h"
#include "model/usage.h"

/*
 * Compute lower and upper bounds on each owner's resident memory. The owners of the
 * mappings must be set. If Rss or Size of any mapping is unknown, all bounds are unknown.
 */
void classify_stats_bound(const struct allocator_stats *stats,
			  const struct mapping_list *mappings, struct heap_bounds *ret);

/*
 * Move memory from the owner `anon` to the heap's owners according to the bounds.
 * `bounds` and the matrix of *usage must have been computed from `mappings`. Set
 * usage->heap_quality to QUALITY_BOUND. Cells of the matrix are known only if all of the
 * allocator's memory is in one state. Do nothing if the bounds are unknown.
 */
void classify_stats(struct usage *usage, const struct mapping_list *mappings,
		    const struct allocator_stats *stats,
		    const struct heap_bounds *bounds);

/* A figure that both the heap walk and the allocator's own statistics contain. */
struct stats_pair {
	/* static name of the figure in the allocator's statistics */
	const char *name;
	bool is_count; /* true: the figure is a count; false: it is in bytes */
	uint64_t reported, walked;
};

#define STATS_PAIR_MAX 10

/*
 * Fill `ret` with the figures that both the heap walk and the allocator report, and
 * return their number. Return 0 if the heap walk failed or covered the heap of a
 * different allocator.
 */
size_t classify_stats_compare(const struct allocator_stats *stats,
			      const struct heap *heap,
			      struct stats_pair ret[STATS_PAIR_MAX]);

/*
 * Return the heap walk's value of the figure that the allocator calls `name`,
 * or BYTES_UNKNOWN.
 */
uint64_t classify_stats_walked(const struct allocator_stats *stats,
			       const struct heap *heap, const char *name);

/*
 * Return the largest difference between the heap walk and the allocator's statistics,
 * considering only figures in bytes.
 */
uint64_t classify_stats_difference(const struct stats_pair *pairs, size_t count);

#endif
