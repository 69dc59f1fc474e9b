/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/heap/fit_shares.h"

#include "base/cleanup.h"
#include "base/xalloc.h"

/*
 * Reduce the heap's share of each mapping to at most room[mapping], free pages first.
 * `room` contains the resident bytes of each mapping that no earlier heap uses. The
 * heap's share may be larger, because the mapping may have grown after its Rss was read.
 */
static void fit_shares(struct heap *heap, uint64_t room[])
{
	static const enum owner order[] = { OWNER_POOL_PAGES, OWNER_POOL_FRAGMENTS,
					    OWNER_LIVE, OWNER_HEAP_META };

	for (size_t i = 0; i < heap->share_count; i++) {
		uint64_t *bytes = heap->shares[i].owner_bytes;
		uint64_t *left = &room[heap->shares[i].mapping];
		uint64_t sum = 0;

		for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
			sum += bytes[o];
		for (size_t k = 0; sum > *left; k++) {
			uint64_t max = bytes[order[k]];
			uint64_t less = sum - *left < max ? sum - *left : max;

			bytes[order[k]] -= less;
			heap->owner_bytes[order[k]] -= less;
			sum -= less;
		}
		*left -= sum;
	}
}

void fit_heap_shares(const struct mapping_list *mappings, struct heap *heap)
{
	_cleanup_free_ uint64_t *room = xcalloc(mappings->count + 1, sizeof(*room));

	for (size_t i = 0; i < mappings->count; i++)
		room[i] = mappings->items[i].counters.bytes[SMAPS_RSS];
	fit_shares(heap, room);
	for (size_t i = 0; i < heap->other_count; i++)
		fit_shares(&heap->others[i], room);
}
