/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/classify_heap.h"

#include <stdlib.h>

#include "base/units.h"
#include "base/xalloc.h"
#include "classify/classify.h"

#define HEAP_OWNERS (OWNER_HEAP_LAST + 1)

static uint64_t share_bytes(const struct heap_share *share)
{
	uint64_t sum = 0;

	for (size_t o = 0; o < HEAP_OWNERS; o++)
		sum = bytes_add(sum, share->owner_bytes[o]);
	return sum;
}

static bool share_fits(const struct heap_share *share, const struct mapping *m)
{
	return share_bytes(share) <= m->counters.bytes[SMAPS_RSS] &&
	       bytes_known(m->counters.bytes[SMAPS_LAZYFREE]);
}

static bool shares_fit(const struct mapping_list *mappings, const struct heap *heap)
{
	for (size_t i = 0; i < heap->share_count; i++)
		if (heap->shares[i].mapping >= mappings->count ||
		    !share_fits(&heap->shares[i], &mappings->items[heap->shares[i].mapping]))
			return false;
	return true;
}

/* The only state with pages, or STATE_COUNT_ if there are several. */
static enum page_state only_state(const uint64_t states[STATE_COUNT_])
{
	enum page_state only = STATE_COUNT_;

	for (unsigned int s = 0; s < STATE_COUNT_; s++) {
		if (states[s] == 0)
			continue;
		if (only != STATE_COUNT_)
			return STATE_COUNT_;
		only = (enum page_state)s;
	}
	return only;
}

static void add_share(struct matrix *matrix, const struct mapping *m,
		      const struct heap_share *share)
{
	uint64_t states[STATE_COUNT_];
	uint64_t bytes = share_bytes(share);
	enum page_state only;

	for (size_t o = 0; o < HEAP_OWNERS; o++)
		matrix->owner_rss_bytes[o] += share->owner_bytes[o];
	matrix->owner_rss_bytes[m->owner] -= bytes;
	classify_states(&m->counters, states);
	only = only_state(states);
	if (only != STATE_COUNT_) {
		for (size_t o = 0; o < HEAP_OWNERS; o++)
			matrix->cell[o][only] += share->owner_bytes[o];
		matrix->cell[m->owner][only] -= bytes;
		return;
	}
	for (size_t o = 0; o < HEAP_OWNERS; o++)
		matrix->owner_rest_bytes[o] += share->owner_bytes[o];
	matrix->owner_rest_bytes[m->owner] += m->counters.bytes[SMAPS_RSS] - bytes;
	for (size_t s = 0; s < STATE_COUNT_; s++) {
		matrix->cell[m->owner][s] -= states[s];
		matrix->state_rest_bytes[s] += states[s];
	}
}

void classify_heap(struct usage *usage, struct mapping_list *mappings,
		   const struct heap *heap)
{
	if (heap->allocator != ALLOCATOR_UNKNOWN)
		usage->allocator = heap->allocator;
	if (heap->quality == QUALITY_UNKNOWN || !shares_fit(mappings, heap)) {
		usage->heap_quality = QUALITY_UNKNOWN;
		return;
	}
	usage->heap_quality = heap->quality;
	usage->trimmable_bytes = heap->trimmable_bytes;
	for (size_t o = 0; o < HEAP_OWNERS; o++) {
		usage->matrix.owner_rss_bytes[o] = 0;
		for (size_t s = 0; s < STATE_COUNT_; s++)
			usage->matrix.cell[o][s] = 0;
	}
	for (size_t i = 0; i < heap->share_count; i++) {
		struct mapping *m = &mappings->items[heap->shares[i].mapping];

		m->flags |= MAPPING_MALLOC;
		add_share(&usage->matrix, m, &heap->shares[i]);
	}
}

/* The index of the mapping that holds addr, or the count. */
static size_t find_mapping(const struct mapping_list *mappings, uint64_t addr)
{
	size_t low = 0, high = mappings->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (mappings->items[middle].end_addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < mappings->count && mappings->items[low].start_addr <= addr ? low
										 : mappings->count;
}

/* Shares of mappings that are one now are one. Those of mappings that are gone are gone. */
static void carry_shares(struct heap *now, const struct mapping_list *mappings,
			 const struct heap *heap, const struct mapping_list *walked)
{
	for (size_t i = 0; i < heap->share_count; i++) {
		const struct heap_share *share = &heap->shares[i];
		const struct mapping *was = &walked->items[share->mapping];
		size_t at = find_mapping(mappings, was->start_addr);
		struct heap_share *last = &now->shares[now->share_count];

		if (at == mappings->count || mappings->items[at].owner != was->owner)
			continue;
		if (now->share_count > 0 && last[-1].mapping == at) {
			for (size_t o = 0; o < HEAP_OWNERS; o++)
				last[-1].owner_bytes[o] += share->owner_bytes[o];
			continue;
		}
		*last = *share;
		last->mapping = at;
		now->share_count++;
	}
}

/* Pages that a heap gave back since were whole and free. Returns how many such bytes are left. */
static uint64_t shrink_share(struct heap_share *share, const struct mapping *m)
{
	uint64_t rss_bytes = m->counters.bytes[SMAPS_RSS];
	uint64_t sum = share_bytes(share);
	uint64_t excess = sum > rss_bytes ? sum - rss_bytes : 0;
	uint64_t *free_bytes = &share->owner_bytes[OWNER_POOL_PAGES];

	*free_bytes -= excess < *free_bytes ? excess : *free_bytes;
	return *free_bytes;
}

void classify_heap_again(struct usage *usage, struct mapping_list *mappings,
			 const struct heap *heap, const struct mapping_list *walked)
{
	struct heap now = *heap;
	uint64_t free_bytes = 0;

	now.shares = xcalloc(heap->share_count + 1, sizeof(*now.shares));
	now.share_count = 0;
	if (now.quality > QUALITY_ESTIMATE)
		now.quality = QUALITY_ESTIMATE;
	carry_shares(&now, mappings, heap, walked);
	for (size_t i = 0; i < now.share_count; i++)
		free_bytes += shrink_share(&now.shares[i],
					   &mappings->items[now.shares[i].mapping]);
	if (bytes_known(now.trimmable_bytes) && now.trimmable_bytes > free_bytes)
		now.trimmable_bytes = free_bytes;
	if (now.share_count == 0) /* it runs another program now */
		now.quality = QUALITY_UNKNOWN;
	classify_heap(usage, mappings, &now);
	free(now.shares);
}
