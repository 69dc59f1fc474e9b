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
	enum owner owner;    /* owner of the mapping according to classify */
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1];
};

struct past_heap {
	enum allocator allocator;
	uint64_t trimmable_bytes;
	uint64_t program; /* hash that identifies the program, to detect an exec */
	struct past_share *shares; /* sorted by address; NULL: no walk is stored */
	size_t count;
	/* the process's other heaps, as in struct heap; stats is not used in them */
	struct past_heap *others;
	size_t other_count;
	/*
	 * The allocator's own figures, without their text form.
	 * ALLOCATOR_UNKNOWN: no figures are stored.
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
 * unknown. mappings are those at the time of the walk, with their owners set.
 */
void past_heap_store(struct past_heap *past, const struct heap *heap,
		     const struct mapping_list *mappings);

/*
 * Compute an estimate of the heap for the current mappings, as input to
 * classify_heap(). Return true and initialise *ret. If there is no stored walk, or the
 * process has exec'd since the walk, return false and leave *ret unchanged.
 */
bool past_heap_estimate(const struct past_heap *past, const struct mapping_list *mappings,
			struct heap *ret);

/*
 * Store the allocator's own figures for a heap that was not walked. mappings are those
 * at the time of the figures, with their owners set.
 */
void past_heap_store_stats(struct past_heap *past, const struct allocator_stats *stats,
			   const struct mapping_list *mappings);

/*
 * Divide the memory that is resident now among owners according to the
 * stored figures. The result is an estimate. Do nothing if no figures are
 * stored or the process has exec'd since.
 */
void past_heap_estimate_stats(const struct past_heap *past, struct usage *usage,
			      const struct mapping_list *mappings);

#endif
