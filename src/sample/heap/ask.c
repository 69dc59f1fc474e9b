/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/ask.h"

#include "base/units.h"
#include "classify/process/classify_stats.h"

/*
 * Return the number of glibc's free chunks, all of which a query must traverse;
 * BYTES_UNKNOWN for other allocators.
 */
static uint64_t free_chunk_count(const struct heap *heap)
{
	struct heap_arena all;

	if (heap->quality != QUALITY_EXACT || heap->allocator != ALLOCATOR_GLIBC)
		return BYTES_UNKNOWN;
	heap_sum_arenas(heap, &all);
	return all.fast.count + all.bin.count;
}

static void note_answer(const struct helper_answer *answer, struct usage *u)
{
	const struct allocator_stats *stats = &answer->stats;

	u->helper_problem = answer->problem;
	if (!helper_answer_is_known(answer))
		return;
	u->said = (struct said){ stats->system_bytes, stats->live_bytes,
				 stats->pool_bytes, stats->cost_ns };
}

/* Set the owners from the allocator's own figures. */
static void take_answer(const struct helper_answer *answer, struct usage *u,
			const struct mapping_list *mappings, struct heap *ret)
{
	classify_stats(u, mappings, &answer->stats, &answer->bounds);
	if (u->heap_quality == QUALITY_UNKNOWN)
		return;
	u->heap_is_said = true;
	ret->allocator = answer->stats.allocator;
	ret->quality = QUALITY_BOUND;
	ret->problem =
		"figures are the allocator's own: it does not say what is resident";
	ret->is_said = true;
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		ret->owner_bytes[o] = answer->bounds.owner_bytes[o];
}

/*
 * Whether the allocator is queried before the walk or without one. Only a query of glibc
 * needs a figure from the walk: the number of free chunks.
 */
static bool is_asked_first(const struct usage *u)
{
	return u->allocator == ALLOCATOR_TCMALLOC || u->allocator == ALLOCATOR_MIMALLOC ||
	       u->allocator == ALLOCATOR_JEMALLOC;
}

static bool can_be_walked(const struct usage *u)
{
	return u->allocator != ALLOCATOR_TCMALLOC && u->allocator != ALLOCATOR_MIMALLOC;
}

/*
 * The helper is started before the walk, so that both see the same heap. jemalloc is
 * queried before the walk, because it creates a cache for the thread that queries it.
 */
int heap_ask(struct heap_reader *reader, struct usage *u, struct mapping_list *mappings,
	     struct heap *ret)
{
	struct helper_answer *answer = &reader->answer;
	bool is_first = is_asked_first(u);
	int r = 0;

	helpers_open(reader->helpers, &u->process, answer);
	if (is_first)
		helpers_ask(reader->helpers, &u->process, BYTES_UNKNOWN, answer);
	/* or to learn why it cannot be walked */
	if (can_be_walked(u) || !helper_answer_is_known(answer))
		r = heap_reader_walk(reader, u, mappings, ret);
	if (!is_first && !u->error)
		helpers_ask(reader->helpers, &u->process, free_chunk_count(ret), answer);
	note_answer(answer, u);
	if (!helper_answer_is_known(answer))
		return r;
	classify_stats_bound(&answer->stats, mappings, &answer->bounds);
	if (u->heap_quality == QUALITY_UNKNOWN)
		take_answer(answer, u, mappings, ret);
	return ret->is_said ? 0 : r;
}
