/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify_stats - what an allocator says of itself, as owners of resident memory. Pure.
 *
 *   live            what it calls in use; glibc and jemalloc count what threads' caches hold as that
 *   pool_pages      free, in whole pages: gperftools' page heap, jemalloc's dirty pages, glibc's top
 *   pool_fragments  free, elsewhere
 *   heap_meta       its own data
 *
 * It says how many bytes, not which of them are resident: owners are bounds. What may be
 * its memory is private anonymous, writable, no stack, and has no name but [heap] or one
 * of malloc's.
 */
#ifndef MS_CLASSIFY_CLASSIFY_STATS_H
#define MS_CLASSIFY_CLASSIFY_STATS_H

#include "model/heap.h"
#include "model/helper_answer.h"
#include "model/mapping.h"
#include "model/usage.h"

/* Mappings have their owners. Where Rss or Size of one is not known, all is unknown. */
void classify_stats_bound(const struct allocator_stats *stats, const struct mapping_list *mappings,
			  struct heap_bounds *ret);

/*
 * The owners of the bounds, which are of these mappings, into the matrix that these made:
 * the heap's quality is bound then, and cells are known only where all of that memory is
 * in one state. Nothing happens where the bounds are unknown.
 */
void classify_stats(struct usage *usage, const struct mapping_list *mappings,
		    const struct allocator_stats *stats, const struct heap_bounds *bounds);

/* One figure that a walk finds and the allocator says too. */
struct stats_pair {
	const char *name; /* as the allocator has it; static */
	bool is_count;	  /* else bytes */
	uint64_t said, walked;
};

#define STATS_PAIR_MAX 10

/* Returns how many there are; 0 where the walk does not know, or read another allocator. */
size_t classify_stats_compare(const struct allocator_stats *stats, const struct heap *heap,
			      struct stats_pair ret[STATS_PAIR_MAX]);

/* What a walk found of a figure that the allocator has by this name; BYTES_UNKNOWN. */
uint64_t classify_stats_walked(const struct allocator_stats *stats, const struct heap *heap,
			       const char *name);

/* How far apart the bytes of these are: the largest difference. */
uint64_t classify_stats_difference(const struct stats_pair *pairs, size_t count);

#endif
