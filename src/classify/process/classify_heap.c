/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/process/classify_heap.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "classify/process/classify.h"
#include "classify/process/uses.h"

#define HEAP_OWNERS (OWNER_HEAP_LAST + 1)

static uint64_t share_bytes(const struct heap_share *share)
{
	uint64_t sum = 0;

	for (size_t o = 0; o < HEAP_OWNERS; o++)
		sum = bytes_add(sum, share->owner_bytes[o]);
	return sum;
}

static bool is_share_valid(const struct heap_share *share, const struct mapping *m)
{
	return share_bytes(share) <= m->counters.bytes[SMAPS_RSS] &&
	       bytes_known(m->counters.bytes[SMAPS_LAZYFREE]);
}

static bool are_shares_valid(const struct mapping_list *mappings,
			     const struct heap_share *shares, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (shares[i].mapping >= mappings->count ||
		    !is_share_valid(&shares[i], &mappings->items[shares[i].mapping]))
			return false;
	return true;
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
	only = matrix_only_state(states);
	if (only != STATE_COUNT_) {
		for (size_t o = 0; o < HEAP_OWNERS; o++)
			matrix->cell[o][only] += share->owner_bytes[o];
		matrix->cell[m->owner][only] -= bytes;
		return;
	}
	for (size_t o = 0; o < HEAP_OWNERS; o++)
		matrix->owner_remainder_bytes[o] += share->owner_bytes[o];
	matrix->owner_remainder_bytes[m->owner] += m->counters.bytes[SMAPS_RSS] - bytes;
	for (size_t s = 0; s < STATE_COUNT_; s++) {
		matrix->cell[m->owner][s] -= states[s];
		matrix->state_remainder_bytes[s] += states[s];
	}
}

/* Sum the arenas of glibc's malloc. The first arena is the main arena. */
static void sum_arenas(const struct heap *heap, struct usage_heap *to)
{
	to->arena_count = 0;
	to->arena_free_bytes = 0;
	for (size_t i = 1; heap->allocator == ALLOCATOR_GLIBC && i < heap->arena_count;
	     i++) {
		to->arena_count++;
		to->arena_free_bytes += heap->arenas[i].free_resident_bytes;
	}
}

static void list_heaps(struct usage *usage, const struct heap *heap)
{
	usage->heap_count = 0;
	usage->has_java = false;
	for (size_t i = 0; i < heap_count(heap); i++) {
		const struct heap *part = heap_at(heap, i);
		struct usage_heap *to = &usage->heaps[usage->heap_count];

		usage->has_java = usage->has_java || part->allocator == ALLOCATOR_HOTSPOT;
		if (part->allocator == ALLOCATOR_UNKNOWN ||
		    part->quality == QUALITY_UNKNOWN ||
		    usage->heap_count == USAGE_HEAP_MAX)
			continue;
		to->allocator = part->allocator;
		to->quality = part->quality;
		to->trimmable_bytes = part->trimmable_bytes;
		memcpy(to->owner_bytes, part->owner_bytes, sizeof(to->owner_bytes));
		sum_arenas(part, to);
		usage->heap_count++;
	}
}

/* Store in each mapping's flags the allocator with the largest share of the mapping. */
static void mark_mappings(struct mapping_list *mappings, const struct heap *heap)
{
	_cleanup_free_ uint64_t *max_bytes =
		xcalloc(mappings->count + 1, sizeof(*max_bytes));

	for (size_t h = 0; h < heap_count(heap); h++) {
		const struct heap *part = heap_at(heap, h);

		for (size_t i = 0; i < part->share_count; i++) {
			size_t index = part->shares[i].mapping;
			uint64_t bytes = share_bytes(&part->shares[i]);
			struct mapping *m = &mappings->items[index];

			if (m->flags & MAPPING_HEAP && bytes <= max_bytes[index])
				continue;
			max_bytes[index] = bytes;
			m->flags &= ~MAPPING_ALLOCATOR_MASK;
			m->flags |= MAPPING_HEAP | (uint32_t)part->allocator
							   << MAPPING_ALLOCATOR_SHIFT;
		}
	}
}

void classify_heap(struct usage *usage, struct mapping_list *mappings,
		   const struct heap *heap)
{
	enum quality quality = heap_total_quality(heap);
	_cleanup_free_ struct heap_share *shares = NULL;
	size_t count;

	if (heap->allocator != ALLOCATOR_UNKNOWN)
		usage->allocator = heap->allocator;
	shares = heap_total_shares(heap, &count);
	if (quality == QUALITY_UNKNOWN || !are_shares_valid(mappings, shares, count)) {
		usage->heap_quality = QUALITY_UNKNOWN;
		usage->heap_count = 0;
		classify_uses(usage, mappings, NULL, 0);
		return;
	}
	usage->heap_quality = quality;
	usage->trimmable_bytes = heap_total_trimmable(heap);
	list_heaps(usage, heap);
	for (size_t o = 0; o < HEAP_OWNERS; o++) {
		usage->matrix.owner_rss_bytes[o] = 0;
		for (size_t s = 0; s < STATE_COUNT_; s++)
			usage->matrix.cell[o][s] = 0;
	}
	for (size_t i = 0; i < count; i++)
		add_share(&usage->matrix, &mappings->items[shares[i].mapping],
			  &shares[i]);
	mark_mappings(mappings, heap);
	classify_uses(usage, mappings, shares, count);
}

/*
 * Return true if the sums are consistent: the bytes assigned to the heap equal the bytes
 * subtracted from other owners, such as `anon`, and none of these owners had fewer bytes.
 */
static bool are_sums_consistent(const struct matrix *m, const struct heap_sums *sums)
{
	uint64_t heap = 0, taken = 0;

	for (size_t o = 0; o < HEAP_OWNERS; o++)
		if (bytes_known(sums->owner_bytes[o]))
			heap = bytes_add(heap, sums->owner_bytes[o]);
	for (size_t o = HEAP_OWNERS; o < OWNER_COUNT_; o++) {
		if (!bytes_known(sums->taken_bytes[o]) ||
		    !bytes_known(m->owner_rss_bytes[o]) ||
		    sums->taken_bytes[o] > m->owner_rss_bytes[o])
			return false;
		taken = bytes_add(taken, sums->taken_bytes[o]);
	}
	return heap == taken && bytes_known(heap);
}

/*
 * Sum the memory of one owner that may belong to the heap, by page state: the mappings
 * marked MAPPING_HEAP or, if they are smaller than the heap, all mappings of the owner.
 */
static void find_states(const struct mapping_list *mappings, enum owner owner,
			uint64_t taken_bytes, uint64_t ret_states[STATE_COUNT_])
{
	uint64_t marked = 0;

	for (size_t i = 0; i < mappings->count; i++)
		if (mappings->items[i].owner == owner &&
		    mappings->items[i].flags & MAPPING_HEAP)
			marked = bytes_add(marked,
					   mappings->items[i].counters.bytes[SMAPS_RSS]);
	for (size_t s = 0; s < STATE_COUNT_; s++)
		ret_states[s] = 0;
	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];
		uint64_t states[STATE_COUNT_];

		if (m->owner != owner ||
		    (marked >= taken_bytes && !(m->flags & MAPPING_HEAP)))
			continue;
		classify_states(&m->counters, states);
		for (size_t s = 0; s < STATE_COUNT_; s++)
			ret_states[s] = bytes_add(ret_states[s], states[s]);
	}
}

/*
 * Subtract bytes from an owner's row of the matrix of owners and page states. Return the
 * state of the subtracted bytes, or STATE_COUNT_ if their state is ambiguous.
 */
static enum page_state subtract_from(struct matrix *matrix,
				     const struct mapping_list *mappings,
				     enum owner owner, uint64_t bytes, bool may_be_exact)
{
	uint64_t states[STATE_COUNT_], sum = 0;
	enum page_state only;

	find_states(mappings, owner, bytes, states);
	only = may_be_exact ? matrix_only_state(states) : STATE_COUNT_;
	matrix->owner_rss_bytes[owner] -= bytes;
	if (only != STATE_COUNT_) {
		matrix->cell[owner][only] = bytes_sub(matrix->cell[owner][only], bytes);
		return only;
	}
	for (size_t s = 0; s < STATE_COUNT_; s++) {
		matrix->cell[owner][s] = bytes_sub(matrix->cell[owner][s], states[s]);
		matrix->state_remainder_bytes[s] =
			bytes_add(matrix->state_remainder_bytes[s], states[s]);
		sum = bytes_add(sum, states[s]);
	}
	matrix->owner_remainder_bytes[owner] =
		bytes_add(matrix->owner_remainder_bytes[owner], bytes_sub(sum, bytes));
	return only;
}

static void set_heap_rows(struct matrix *m, const struct heap_sums *sums,
			  enum page_state only)
{
	for (size_t o = 0; o < HEAP_OWNERS; o++) {
		if (!bytes_known(sums->owner_bytes[o]))
			/*
			 * the allocator does not report this owner's bytes separately:
			 * they are part of OWNER_LIVE
			 */
			continue;
		for (size_t s = 0; s < STATE_COUNT_; s++)
			m->cell[o][s] = 0;
		m->owner_rss_bytes[o] = sums->owner_bytes[o];
		if (only != STATE_COUNT_)
			m->cell[o][only] = sums->owner_bytes[o];
		else
			m->owner_remainder_bytes[o] = sums->owner_bytes[o];
	}
}

static void list_recorded_heaps(struct usage *usage, const struct heap_sums *sums)
{
	struct usage_heap *only = &usage->heaps[0];

	memcpy(usage->heaps, sums->heaps, sizeof(usage->heaps));
	usage->heap_count = sums->heap_count;
	if (usage->heap_count > 0 || sums->allocator == ALLOCATOR_UNKNOWN)
		return;
	only->allocator = sums->allocator;
	only->quality = sums->quality;
	only->trimmable_bytes = sums->trimmable_bytes;
	memcpy(only->owner_bytes, sums->owner_bytes, sizeof(only->owner_bytes));
	usage->heap_count = 1;
}

void classify_heap_sums(struct usage *usage, const struct mapping_list *mappings,
			const struct heap_sums *sums)
{
	struct matrix *m = &usage->matrix;
	enum page_state only = STATE_COUNT_;
	unsigned int owners = 0;

	if (!are_sums_consistent(m, sums))
		return;
	for (size_t o = HEAP_OWNERS; o < OWNER_COUNT_; o++)
		owners += sums->taken_bytes[o] > 0;
	for (size_t o = HEAP_OWNERS; o < OWNER_COUNT_; o++)
		if (sums->taken_bytes[o] > 0)
			only = subtract_from(m, mappings, (enum owner)o,
					     sums->taken_bytes[o], owners == 1);
	set_heap_rows(m, sums, only);
	usage->allocator = sums->allocator;
	list_recorded_heaps(usage, sums);
	/*
	 * the amounts by use are no longer upper bounds, because they exclude the
	 * heap, which was read
	 */
	for (size_t i = 0; i < usage->uses.count; i++)
		usage->uses.items[i].is_upper_bound = false;
	usage->heap_quality = sums->quality;
	usage->trimmable_bytes = sums->trimmable_bytes;
	usage->heap_is_reported = sums->is_reported;
	usage->heap_is_running = sums->is_running;
	usage->heap_pause_ns = sums->pause_ns;
	usage->heap_taken_ns = sums->quality == QUALITY_ESTIMATE ? 0 : usage->taken_ns;
	if (sums->is_reported)
		usage->heap_problem = "its allocator was queried";
	else if (sums->quality == QUALITY_BOUND)
		usage->heap_problem = "not all of it could be read at that time";
}
