/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/classify_heap.h"

#include "base/units.h"
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
