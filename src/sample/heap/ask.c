/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/ask.h"

#include "base/units.h"
#include "classify/process/classify_stats.h"

/*
 * Return the number of free chunks in a glibc heap, which determines the cost of querying
 * glibc. Return BYTES_UNKNOWN for other allocators.
 */
static uint64_t free_chunk_count(const struct heap *heap)
{
	struct heap_arena all;

	if (heap->quality != QUALITY_EXACT || heap->allocator != ALLOCATOR_GLIBC)
		return BYTES_UNKNOWN;
	heap_sum_arenas(heap, &all);
	return all.fast.count + all.bin.count;
}

static void store_answer(const struct helper_answer *answer, struct usage *u)
{
	const struct allocator_stats *stats = &answer->stats;

	u->helper_problem = answer->problem;
	if (!helper_answer_is_known(answer))
		return;
	u->reported = (struct reported){ stats->system_bytes, stats->live_bytes,
					 stats->pool_bytes, stats->cost_ns };
}

/*
 * Assign the heap's memory to owners based on the allocator's own
 * statistics instead of a heap walk.
 */
static void apply_answer(const struct helper_answer *answer, struct usage *u,
			 const struct mapping_list *mappings, struct heap *ret)
{
	classify_stats(u, mappings, &answer->stats, &answer->bounds);
	if (u->heap_quality == QUALITY_UNKNOWN)
		return;
	u->heap_is_reported = true;
	ret->allocator = answer->stats.allocator;
	ret->quality = QUALITY_BOUND;
	ret->problem =
		"figures are the allocator's own: it does not report what is resident";
	ret->is_reported = true;
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		ret->owner_bytes[o] = answer->bounds.owner_bytes[o];
}

/*
 * Return true if the allocator can be queried before or without a heap walk. glibc
 * cannot, because the heap walk must first count its free chunks.
 */
static bool is_queried_first(const struct usage *u)
{
	return u->allocator == ALLOCATOR_TCMALLOC || u->allocator == ALLOCATOR_MIMALLOC ||
	       u->allocator == ALLOCATOR_JEMALLOC;
}

bool heap_ask_before(struct heap_reader *reader, const struct usage *u)
{
	struct helper_answer *answer = &reader->answer;

	helpers_open(reader->helpers, &u->process, answer);
	if (!is_queried_first(u))
		return false;
	helpers_ask(reader->helpers, &u->process, BYTES_UNKNOWN, answer);
	return true;
}

void heap_ask_after(struct heap_reader *reader, struct usage *u,
		    struct mapping_list *mappings, struct heap *heap, bool is_asked)
{
	struct helper_answer *answer = &reader->answer;

	if (!is_asked && !u->error)
		helpers_ask(reader->helpers, &u->process, free_chunk_count(heap), answer);
	store_answer(answer, u);
	if (!helper_answer_is_known(answer))
		return;
	classify_stats_bound(&answer->stats, mappings, &answer->bounds);
	if (u->heap_quality == QUALITY_UNKNOWN)
		apply_answer(answer, u, mappings, heap);
}
