/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify_stats - convert an allocator's own figures to owners of resident memory. Pure.
 *
 *   live            memory in use; for glibc and jemalloc, including the thread caches
 *   pool_pages      free memory in whole pages: gperftools' page heap, jemalloc's dirty
 *                   pages, glibc's top chunk
 *   pool_fragments  other free memory
 *   heap_meta       the allocator's own data
 *
 * An allocator reports how many bytes it has, but not which of them are resident, so the
 * results are bounds. Memory counts as the allocator's if it is private, anonymous,
 * writable, not a stack, and nameless, named [heap], or has a name with "malloc" in it.
 */
#ifndef MS_CLASSIFY_PROCESS_CLASSIFY_STATS_H
#define MS_CLASSIFY_PROCESS_CLASSIFY_STATS_H

#include "model/heap.h"
#include "model/helper_answer.h"
#include "model/mapping.h"
#include "model/usage.h"

/*
 * Compute lower and upper bounds on each owner's resident memory. The owners of the
 * mappings must be set. If Rss or Size of a mapping is unknown, all bounds are unknown.
 */
void classify_stats_bound(const struct allocator_stats *stats,
			  const struct mapping_list *mappings, struct heap_bounds *ret);

/*
 * Move memory from anon to the heap's owners according to the bounds. `bounds` and
 * the matrix of *usage must have been computed from `mappings`. The heap's quality
 * becomes bound. Cells of the matrix are known only if all of the allocator's memory
 * is in one state. Unknown bounds change nothing.
 */
void classify_stats(struct usage *usage, const struct mapping_list *mappings,
		    const struct allocator_stats *stats,
		    const struct heap_bounds *bounds);

/* A figure that is known both from a walk and from the allocator. */
struct stats_pair {
	const char *name; /* the allocator's name for the figure; static */
	bool is_count;	  /* true: the figure is a count; false: the figure is in bytes */
	uint64_t reported, walked;
};

#define STATS_PAIR_MAX 10

/*
 * Fill ret with pairs of figures and return their number. Return 0 if the walk failed
 * or read the heap of another allocator.
 */
size_t classify_stats_compare(const struct allocator_stats *stats,
			      const struct heap *heap,
			      struct stats_pair ret[STATS_PAIR_MAX]);

/*
 * Return the walk's value for the figure that the allocator
 * calls `name`, or BYTES_UNKNOWN.
 */
uint64_t classify_stats_walked(const struct allocator_stats *stats,
			       const struct heap *heap, const char *name);

/*
 * Return the largest difference between walk and allocator, among the figures in bytes.
 */
uint64_t classify_stats_difference(const struct stats_pair *pairs, size_t count);

#endif
