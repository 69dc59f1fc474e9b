/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * past_heap - apply the result of an earlier heap walk, or of an earlier query of the
 * allocator, to later samples of the same process. The functions are pure.
 *
 * Rss keeps changing between heap walks. If a mapping has grown, the growth is assigned
 * to the owner of the mapping, as without a heap walk. If a mapping has shrunk, the loss
 * is deducted from the free pages first, then from the fragments, the live blocks, and
 * the allocator's own data. The parts therefore always add up to Rss, but their
 * distribution is an estimate.
 */
#ifndef MS_CLASSIFY_HEAP_PAST_HEAP_H
#define MS_CLASSIFY_HEAP_PAST_HEAP_H

#include "model/allocator_stats.h"
#include "model/heap.h"
#include "model/mapping.h"

struct past_share {
	uint64_t start_addr; /* start of the mapping */
	uint64_t rss_bytes;  /* Rss of the mapping at the time of the heap walk */
	/* owner of the mapping as a whole, such as anonymous memory */
	enum owner owner;
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1];
};

struct past_heap {
	enum allocator allocator;
	uint64_t trimmable_bytes;
	/* hash that identifies the running program, for detecting an exec */
	uint64_t program;
	/* shares of mappings, sorted by address; NULL: no heap walk is stored */
	struct past_share *shares;
	size_t count;
	/* other heaps of the process; their member stats is not used */
	struct past_heap *others;
	size_t other_count;
	/*
	 * the allocator's own statistics without their text; ALLOCATOR_UNKNOWN: none
	 * are stored
	 */
	struct allocator_stats stats;
};

#define PAST_HEAP_INIT         \
	{                      \
		.shares = NULL \
	}

void past_heap_release(struct past_heap *past);

/*
 * Store the result of a heap walk, replacing earlier results. The quality of the heap
 * must not be QUALITY_UNKNOWN. `mappings` are the mappings at the time of the walk, with
 * their owners set.
 */
void past_heap_store(struct past_heap *past, const struct heap *heap,
		     const struct mapping_list *mappings);

/*
 * Estimate the current state of the heap in the given mappings, as input for
 * classify_heap(). Return true and initialise *ret. If no heap walk is stored, or if the
 * process has called exec since the walk, return false and leave *ret unchanged.
 */
bool past_heap_estimate(const struct past_heap *past, const struct mapping_list *mappings,
			struct heap *ret);

/*
 * Store the allocator's own statistics for a heap that was not walked. `mappings` are the
 * mappings at the time when the statistics were read, with their owners set.
 */
void past_heap_store_stats(struct past_heap *past, const struct allocator_stats *stats,
			   const struct mapping_list *mappings);

/*
 * Estimate how much of the currently resident memory belongs to each owner, such as live
 * blocks and free pages, based on the stored statistics. Do nothing if no statistics are
 * stored, or if the process has called exec since then.
 */
void past_heap_estimate_stats(const struct past_heap *past, struct usage *usage,
			      const struct mapping_list *mappings);

#endif
