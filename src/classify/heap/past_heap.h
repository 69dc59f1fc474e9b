/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * past_heap - apply the result of an earlier walk, or of an earlier query of the
 * allocator, to later samples of the same process. Pure.
 *
 * Rss keeps changing between walks. If a mapping has grown, the growth counts for the
 * mapping's own owner, as before any walk. If a mapping has shrunk, the loss is taken
 * first from the free pages, then from the fragments, the live blocks, and the
 * allocator's own data. The parts therefore always add up to Rss, but their
 * distribution is an estimate.
 */
#ifndef MS_CLASSIFY_HEAP_PAST_HEAP_H
#define MS_CLASSIFY_HEAP_PAST_HEAP_H

#include "model/allocator_stats.h"
#include "model/heap.h"
#include "model/mapping.h"

struct past_share {
	uint64_t start_addr; /* start of the mapping */
	uint64_t rss_bytes;  /* Rss of the mapping at the time of the walk */
	enum owner owner;    /* owner of the mapping */
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1];
};

struct past_heap {
	enum allocator allocator;
	uint64_t trimmable_bytes;
	uint64_t program; /* identifies the program, to detect an exec since then */
	struct past_share *shares; /* ascending by address; NULL: not walked */
	size_t count;
	/*
	 * The allocator's own figures without text;
	 * ALLOCATOR_UNKNOWN if there are none.
	 */
	struct allocator_stats stats;
};

#define PAST_HEAP_INIT         \
	{                      \
		.shares = NULL \
	}

void past_heap_release(struct past_heap *past);

/*
 * Store the result of a walk, replacing earlier results. The heap's quality must not be
 * unknown. mappings are those of the walk, with their owners.
 */
void past_heap_take(struct past_heap *past, const struct heap *heap,
		    const struct mapping_list *mappings);

/*
 * Compute an estimate of the heap for the current mappings, as input to classify_heap().
 * Initialises *ret and returns true. Returns false and leaves *ret untouched if there is
 * no stored walk or the process has exec'd since.
 */
bool past_heap_carry(const struct past_heap *past, const struct mapping_list *mappings,
		     struct heap *ret);

/*
 * Store the allocator's own figures of a heap that was not walked. mappings are those of
 * the same time, with their owners.
 */
void past_heap_take_stats(struct past_heap *past, const struct allocator_stats *stats,
			  const struct mapping_list *mappings);

/*
 * Apply the stored figures as owners of the memory that is resident now: an estimate.
 * Does nothing if there are none or the process has exec'd since.
 */
void past_heap_carry_stats(const struct past_heap *past, struct usage *usage,
			   const struct mapping_list *mappings);

#endif
