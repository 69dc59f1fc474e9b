/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * past_heap - what a walk found of a heap, or its allocator said, carried over to later
 * samples of the process. Pure.
 *
 * Rss goes on changing between walks. Of a mapping that has grown, the growth is its
 * mapping's owner's, as before any walk. Of one that has shrunk, what is gone is taken
 * from the free pages first, then from the fragments, the live blocks, and the
 * allocator's own. So the parts add up to Rss in every sample; that they are the right
 * parts is an estimate.
 */
#ifndef MS_CLASSIFY_PAST_HEAP_H
#define MS_CLASSIFY_PAST_HEAP_H

#include "model/allocator_stats.h"
#include "model/heap.h"
#include "model/mapping.h"

struct past_share {
	uint64_t start_addr; /* of the mapping */
	uint64_t rss_bytes;  /* of the mapping, then */
	enum owner owner;    /* of the mapping */
	uint64_t owner_bytes[OWNER_HEAP_LAST + 1];
};

struct past_heap {
	enum allocator allocator;
	uint64_t trimmable_bytes;
	uint64_t program; /* tells whether the process has exec'd since */
	struct past_share *shares; /* by address; NULL: it was not walked */
	size_t count;
	struct allocator_stats stats; /* what was said of it, ALLOCATOR_UNKNOWN if nothing; no text */
};

#define PAST_HEAP_INIT { .shares = NULL }

void past_heap_release(struct past_heap *past);

/*
 * Keep what a walk found, of a quality that is not unknown, in place of what was kept
 * before; mappings are those of the walk, with their owners.
 */
void past_heap_take(struct past_heap *past, const struct heap *heap,
		    const struct mapping_list *mappings);

/*
 * What is left of it now, in the mappings of now, for classify_heap(): an estimate. *ret
 * is initialised. Returns false, and *ret is untouched, if there is none, or if another
 * program runs in the process.
 */
bool past_heap_carry(const struct past_heap *past, const struct mapping_list *mappings,
		     struct heap *ret);

/*
 * The same of what an allocator said of a heap that was not walked; mappings are those of
 * then, as above.
 */
void past_heap_take_stats(struct past_heap *past, const struct allocator_stats *stats,
			  const struct mapping_list *mappings);

/*
 * What it said then, as owners of what is resident now: an estimate. Nothing is changed
 * if there is none, or if another program runs in the process.
 */
void past_heap_carry_stats(const struct past_heap *past, struct usage *usage,
			   const struct mapping_list *mappings);

#endif
