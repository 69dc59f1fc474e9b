/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap_ask.h"

#include "base/units.h"
#include "classify/classify_stats.h"

/* glibc's free chunks, each of which an answer has to come by; of others it is no matter. */
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
	u->said = (struct said){ stats->system_bytes, stats->live_bytes, stats->pool_bytes,
				 stats->cost_ns };
}

/* The owners are made of what it said. */
static void take_answer(const struct helper_answer *answer, struct usage *u,
			const struct mapping_list *mappings, struct heap *ret)
{
	classify_stats(u, mappings, &answer->stats, &answer->bounds);
	if (u->heap_quality == QUALITY_UNKNOWN)
		return;
	u->heap_is_said = true;
	ret->allocator = answer->stats.allocator;
	ret->quality = QUALITY_BOUND;
	ret->problem = "figures are the allocator's own: it does not say what is resident";
	ret->is_said = true;
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		ret->owner_bytes[o] = answer->bounds.owner_bytes[o];
}

/*
 * Without a walk of it, or before one: what asking needs to know is only how much glibc
 * has that is free.
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
 * The helper is there before the walk, so that both see the same heap; and jemalloc,
 * which makes a cache for a thread that asks, has been asked before.
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
	if (can_be_walked(u) || !helper_answer_is_known(answer)) /* if only to say why it cannot be */
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
