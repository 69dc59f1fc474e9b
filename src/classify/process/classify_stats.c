/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/process/classify_stats.h"

#include <string.h>

#include "base/units.h"
#include "classify/process/classify.h"
#include "model/image.h"

#define HEAP_OWNERS (OWNER_HEAP_LAST + 1)

/*
 * Order in which resident memory is assigned to owners. Free pages come last, because
 * they are the least likely to be resident; past_heap.c uses the same order.
 */
static const enum owner order[HEAP_OWNERS] = { OWNER_HEAP_META, OWNER_LIVE,
					       OWNER_POOL_FRAGMENTS, OWNER_POOL_PAGES };

static uint64_t value_of(const struct allocator_stats *stats, const char *name)
{
	for (size_t i = 0; i < stats->value_count; i++)
		if (strcmp(stats->values[i].name, name) == 0)
			return stats->values[i].value;
	return BYTES_UNKNOWN;
}

static uint64_t known_or_zero(uint64_t bytes)
{
	return bytes_known(bytes) ? bytes : 0;
}

/*
 * Convert glibc's figures. Only the top chunk is known to be contiguous free memory, so
 * all other free memory counts as fragments.
 */
static void get_glibc(const struct allocator_stats *stats, uint64_t ret[HEAP_OWNERS])
{
	const struct heap_mallinfo *m = &stats->mallinfo;

	ret[OWNER_LIVE] = bytes_add(m->uordblks, m->hblkhd);
	ret[OWNER_POOL_PAGES] = m->keepcost / IMAGE_PAGE_BYTES * IMAGE_PAGE_BYTES;
	ret[OWNER_POOL_FRAGMENTS] = bytes_sub(m->fordblks, ret[OWNER_POOL_PAGES]);
}

static void get_jemalloc(const struct allocator_stats *stats, uint64_t ret[HEAP_OWNERS])
{
	uint64_t allocated = value_of(stats, "stats.allocated");
	uint64_t cached = known_or_zero(value_of(stats, "stats.arenas.all.tcache_bytes"));
	uint64_t slack = bytes_sub(value_of(stats, "stats.active"), allocated);

	ret[OWNER_LIVE] = bytes_sub(allocated, cached);
	ret[OWNER_POOL_FRAGMENTS] = bytes_add(slack, cached);
	ret[OWNER_POOL_PAGES] = bytes_add(value_of(stats, "stats.arenas.all.dirty"),
					  value_of(stats, "stats.arenas.all.muzzy"));
	ret[OWNER_HEAP_META] = value_of(stats, "stats.metadata");
}

static void get_gperftools(const struct allocator_stats *stats, uint64_t ret[HEAP_OWNERS])
{
	ret[OWNER_LIVE] = value_of(stats, "generic.current_allocated_bytes");
	ret[OWNER_POOL_PAGES] = value_of(stats, "tcmalloc.pageheap_free_bytes");
	ret[OWNER_POOL_FRAGMENTS] = bytes_add(
		bytes_add(value_of(stats, "tcmalloc.central_cache_free_bytes"),
			  value_of(stats, "tcmalloc.transfer_cache_free_bytes")),
		value_of(stats, "tcmalloc.thread_cache_free_bytes"));
}

/*
 * Convert mimalloc's figures. mimalloc reports only the total of its committed memory, so
 * this total is the upper bound on live memory.
 */
static void get_mimalloc(const struct allocator_stats *stats, uint64_t ret[HEAP_OWNERS])
{
	ret[OWNER_LIVE] = value_of(stats, "current_commit");
}

static void (*const getters[ALLOCATOR_COUNT_])(const struct allocator_stats *stats,
					       uint64_t ret[HEAP_OWNERS]) = {
	[ALLOCATOR_GLIBC] = get_glibc,
	[ALLOCATOR_JEMALLOC] = get_jemalloc,
	[ALLOCATOR_TCMALLOC] = get_gperftools,
	[ALLOCATOR_MIMALLOC] = get_mimalloc,
};

static void set_unknown(struct heap_bounds *bounds)
{
	bounds->resident_bytes = BYTES_UNKNOWN;
	bounds->missing_bytes = BYTES_UNKNOWN;
	for (size_t o = 0; o < HEAP_OWNERS; o++) {
		bounds->reported_bytes[o] = BYTES_UNKNOWN;
		bounds->min_bytes[o] = BYTES_UNKNOWN;
		bounds->max_bytes[o] = BYTES_UNKNOWN;
		bounds->owner_bytes[o] = BYTES_UNKNOWN;
	}
}

/*
 * Return true if the mapping may belong to the allocator. Allocators that name their
 * mappings with PR_SET_VMA use names such as "[anon:...malloc...]".
 */
static bool may_be_heap(const struct mapping *m)
{
	const uint32_t mask = MAPPING_READ | MAPPING_WRITE | MAPPING_SHARED;

	return m->owner == OWNER_ANON && m->inode == 0 &&
	       (m->flags & mask) == (MAPPING_READ | MAPPING_WRITE) &&
	       (m->name[0] == '\0' || strcmp(m->name, "[heap]") == 0 ||
		strstr(m->name, "malloc"));
}

/*
 * Sum the mappings that may belong to the allocator. Count resident hugetlbfs pages as
 * not resident, because Rss does not include them.
 */
static void sum_mappings(const struct mapping_list *mappings,
			 uint64_t *ret_resident_bytes, uint64_t *ret_missing_bytes)
{
	*ret_resident_bytes = 0;
	*ret_missing_bytes = 0;
	for (size_t i = 0; i < mappings->count; i++) {
		const uint64_t *bytes = mappings->items[i].counters.bytes;

		if (!may_be_heap(&mappings->items[i]))
			continue;
		*ret_resident_bytes = bytes_add(*ret_resident_bytes, bytes[SMAPS_RSS]);
		*ret_missing_bytes =
			bytes_add(*ret_missing_bytes,
				  bytes_sub(bytes[SMAPS_SIZE], bytes[SMAPS_RSS]));
	}
}

static uint64_t at_most(uint64_t bytes, uint64_t limit)
{
	return bytes < limit ? bytes : limit;
}

/*
 * Widen the bounds on pool pages, because the allocator counts free memory between blocks
 * as fragments, even if that memory covers whole pages.
 */
static void widen_pool(struct heap_bounds *bounds)
{
	uint64_t pool = bytes_add(bounds->reported_bytes[OWNER_POOL_PAGES],
				  bounds->reported_bytes[OWNER_POOL_FRAGMENTS]);

	if (!bytes_known(pool) || !bytes_known(bounds->max_bytes[OWNER_POOL_PAGES]))
		return;
	bounds->max_bytes[OWNER_POOL_PAGES] = at_most(pool, bounds->resident_bytes);
	bounds->min_bytes[OWNER_POOL_FRAGMENTS] = 0;
}

void classify_stats_bound(const struct allocator_stats *stats,
			  const struct mapping_list *mappings, struct heap_bounds *ret)
{
	uint64_t left;

	set_unknown(ret);
	if (!getters[stats->allocator])
		return;
	getters[stats->allocator](stats, ret->reported_bytes);
	sum_mappings(mappings, &ret->resident_bytes, &ret->missing_bytes);
	left = ret->resident_bytes;
	for (size_t i = 0;
	     bytes_known(left) && bytes_known(ret->missing_bytes) && i < HEAP_OWNERS;
	     i++) {
		uint64_t reported = ret->reported_bytes[order[i]];

		if (!bytes_known(reported))
			continue;
		ret->max_bytes[order[i]] = at_most(reported, ret->resident_bytes);
		ret->min_bytes[order[i]] = at_most(
			bytes_sub(reported, ret->missing_bytes), ret->resident_bytes);
		ret->owner_bytes[order[i]] = at_most(reported, left);
		left -= ret->owner_bytes[order[i]];
	}
	widen_pool(ret);
}

/*
 * Sum all memory that may belong to the heap, by page state. Return false if an
 * amount is unknown.
 */
static bool sum_states(const struct mapping_list *mappings, uint64_t ret[STATE_COUNT_])
{
	memset(ret, 0, STATE_COUNT_ * sizeof(*ret));
	for (size_t i = 0; i < mappings->count; i++) {
		uint64_t states[STATE_COUNT_];

		if (!may_be_heap(&mappings->items[i]))
			continue;
		classify_states(&mappings->items[i].counters, states);
		for (size_t s = 0; s < STATE_COUNT_; s++)
			ret[s] = bytes_add(ret[s], states[s]);
	}
	for (size_t s = 0; s < STATE_COUNT_; s++)
		if (!bytes_known(ret[s]))
			return false;
	return true;
}

/*
 * Move bytes from the owner `anon` to another owner in the matrix. `only` is the page
 * state of all these bytes, or STATE_COUNT_ if they are in several states.
 */
static void move_row(struct matrix *m, unsigned int owner, uint64_t bytes,
		     unsigned int only)
{
	memset(m->cell[owner], 0, sizeof(m->cell[owner]));
	m->owner_rss_bytes[owner] = bytes;
	m->owner_rss_bytes[OWNER_ANON] -= bytes;
	if (only != STATE_COUNT_) {
		m->cell[owner][only] = bytes;
		m->cell[OWNER_ANON][only] -= bytes;
	} else {
		m->owner_remainder_bytes[owner] += bytes;
		m->owner_remainder_bytes[OWNER_ANON] -= bytes;
	}
}

void classify_stats(struct usage *usage, const struct mapping_list *mappings,
		    const struct allocator_stats *stats, const struct heap_bounds *bounds)
{
	struct matrix *m = &usage->matrix;
	uint64_t states[STATE_COUNT_];
	unsigned int only;

	if (!bytes_known(bounds->owner_bytes[OWNER_LIVE]) ||
	    !sum_states(mappings, states))
		return;
	only = matrix_only_state(states);
	if (only == STATE_COUNT_) {
		m->owner_remainder_bytes[OWNER_ANON] += bounds->resident_bytes;
		for (size_t s = 0; s < STATE_COUNT_; s++) {
			m->cell[OWNER_ANON][s] -= states[s];
			m->state_remainder_bytes[s] += states[s];
		}
	}
	for (unsigned int o = 0; o < HEAP_OWNERS; o++)
		if (bytes_known(bounds->owner_bytes[o]))
			move_row(m, o, bounds->owner_bytes[o], only);
	usage->allocator = stats->allocator;
	usage->heap_quality = QUALITY_BOUND;
	usage->heap_taken_ns = stats->taken_ns;
}

/*
 * Pairs of values for the same figure: one from the heap walk, and one from the
 * allocator's own statistics.
 */

struct pairs {
	struct stats_pair *pairs;
	size_t count;
};

static void add_pair(struct pairs *p, const char *name, uint64_t reported,
		     uint64_t walked)
{
	if (bytes_known(reported))
		p->pairs[p->count++] =
			(struct stats_pair){ name, false, reported, walked };
}

static void add_count(struct pairs *p, const char *name, uint64_t reported,
		      uint64_t walked)
{
	p->pairs[p->count++] = (struct stats_pair){ name, true, reported, walked };
}

/* Compare glibc's figures except usmblks, which has been 0 since glibc 2.26. */
static void compare_glibc(const struct allocator_stats *stats, const struct heap *heap,
			  struct pairs *ret)
{
	const struct heap_mallinfo *reported = &stats->mallinfo,
				   *walked = &heap->mallinfo;

	add_pair(ret, "arena", reported->arena, walked->arena);
	add_count(ret, "ordblks", reported->ordblks, walked->ordblks);
	add_count(ret, "smblks", reported->smblks, walked->smblks);
	add_count(ret, "hblks", reported->hblks, walked->hblks);
	add_pair(ret, "hblkhd", reported->hblkhd, walked->hblkhd);
	add_pair(ret, "fsmblks", reported->fsmblks, walked->fsmblks);
	add_pair(ret, "uordblks", reported->uordblks, walked->uordblks);
	add_pair(ret, "fordblks", reported->fordblks, walked->fordblks);
	add_pair(ret, "keepcost", reported->keepcost, walked->keepcost);
}

static void compare_jemalloc(const struct allocator_stats *stats, const struct heap *heap,
			     struct pairs *ret)
{
	struct heap_arena all;

	heap_sum_arenas(heap, &all);
	add_pair(ret, "stats.allocated", value_of(stats, "stats.allocated"),
		 all.live.bytes + all.cached.bytes + all.own.bytes);
	add_pair(ret, "stats.active", value_of(stats, "stats.active"),
		 all.stretches[HEAP_ACTIVE].bytes);
	add_pair(ret, "stats.retained", value_of(stats, "stats.retained"),
		 all.stretches[HEAP_RETAINED].bytes);
}

size_t classify_stats_compare(const struct allocator_stats *stats,
			      const struct heap *heap,
			      struct stats_pair ret[STATS_PAIR_MAX])
{
	struct pairs pairs = { ret, 0 };

	if (heap->allocator != stats->allocator || heap->quality != QUALITY_EXACT)
		return 0;
	if (heap->allocator == ALLOCATOR_GLIBC)
		compare_glibc(stats, heap, &pairs);
	if (heap->allocator == ALLOCATOR_JEMALLOC)
		compare_jemalloc(stats, heap, &pairs);
	return pairs.count;
}

uint64_t classify_stats_walked(const struct allocator_stats *stats,
			       const struct heap *heap, const char *name)
{
	struct stats_pair pairs[STATS_PAIR_MAX];
	size_t count = classify_stats_compare(stats, heap, pairs);

	for (size_t i = 0; i < count; i++)
		if (strcmp(pairs[i].name, name) == 0)
			return pairs[i].walked;
	return BYTES_UNKNOWN;
}

uint64_t classify_stats_difference(const struct stats_pair *pairs, size_t count)
{
	uint64_t max = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t reported = pairs[i].reported, walked = pairs[i].walked;
		uint64_t difference = reported > walked ? reported - walked
							: walked - reported;

		if (!pairs[i].is_count && difference > max)
			max = difference;
	}
	return max;
}
