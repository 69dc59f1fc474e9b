/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/heap/past_heap.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/xalloc.h"
#include "classify/process/classify_stats.h"

#define HEAP_OWNERS (OWNER_HEAP_LAST + 1)

void past_heap_release(struct past_heap *past)
{
	for (size_t i = 0; i < past->other_count; i++)
		free(past->others[i].shares);
	free(past->others);
	free(past->shares);
	*past = (struct past_heap)PAST_HEAP_INIT;
}

static uint64_t mix(uint64_t sum, uint64_t value)
{
	/* the multiplier is the 64-bit FNV prime */
	return (sum ^ value) * UINT64_C(0x100000001b3);
}

/*
 * Return a hash that identifies the running program, for detecting an exec. An exec keeps
 * the pid and the start time but moves the stack and the vdso. Without address space
 * randomisation, only the program's file differs.
 */
static uint64_t program_of(const struct mapping_list *mappings)
{
	uint64_t stack_addr = 0, vdso_addr = 0, file = 0;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];

		if (strcmp(m->name, "[stack]") == 0)
			/*
			 * hash the end of the stack, because its start moves as the
			 * stack grows
			 */
			stack_addr = m->end_addr;
		else if (strcmp(m->name, "[vdso]") == 0)
			vdso_addr = m->start_addr;
		else if (file == 0 && m->inode != 0 && m->flags & MAPPING_EXEC)
			file = mix(mix(m->inode, m->dev_major), m->dev_minor);
	}
	return mix(mix(file, stack_addr), vdso_addr);
}

static int compare_shares(const void *a, const void *b)
{
	const struct past_share *s_a = a, *s_b = b;

	return (s_a->start_addr > s_b->start_addr) - (s_a->start_addr < s_b->start_addr);
}

/* Store the state of one heap of the process in *past, which must be empty. */
static void store_heap(struct past_heap *past, const struct heap *heap,
		       const struct mapping_list *mappings)
{
	past->allocator = heap->allocator;
	past->trimmable_bytes = heap->trimmable_bytes;
	past->shares = xcalloc(heap->share_count + 1, sizeof(*past->shares));
	for (size_t i = 0; i < heap->share_count; i++) {
		const struct heap_share *share = &heap->shares[i];
		struct past_share *kept = &past->shares[past->count];
		const struct mapping *m;

		if (share->mapping >= mappings->count)
			continue;
		m = &mappings->items[share->mapping];
		kept->start_addr = m->start_addr;
		kept->rss_bytes = m->counters.bytes[SMAPS_RSS];
		kept->owner = m->owner;
		memcpy(kept->owner_bytes, share->owner_bytes, sizeof(kept->owner_bytes));
		past->count++;
	}
	qsort(past->shares, past->count, sizeof(*past->shares), compare_shares);
}

void past_heap_store(struct past_heap *past, const struct heap *heap,
		     const struct mapping_list *mappings)
{
	past_heap_release(past);
	past->program = program_of(mappings);
	store_heap(past, heap, mappings);
	past->others = xcalloc(heap->other_count + 1, sizeof(*past->others));
	for (size_t i = 0; i < heap->other_count; i++)
		store_heap(&past->others[past->other_count++], &heap->others[i],
			   mappings);
}

static void subtract_bytes(uint64_t owner_bytes[HEAP_OWNERS], uint64_t bytes)
{
	static const enum owner order[HEAP_OWNERS] = { OWNER_POOL_PAGES,
						       OWNER_POOL_FRAGMENTS, OWNER_LIVE,
						       OWNER_HEAP_META };

	for (size_t i = 0; i < HEAP_OWNERS; i++) {
		uint64_t *left = &owner_bytes[order[i]];
		uint64_t part = bytes < *left ? bytes : *left;

		*left -= part;
		bytes -= part;
	}
}

/*
 * Estimate the heap's share of a mapping from its share at the last heap walk. If the
 * kernel has merged mappings since then, add up their shares.
 */
static void estimate_mapping(const struct past_share *first, size_t count,
			     const struct mapping *m, struct heap_share *ret)
{
	uint64_t rss_bytes = m->counters.bytes[SMAPS_RSS];
	uint64_t before = 0;

	for (size_t i = 0; i < count; i++) {
		before = bytes_add(before, first[i].rss_bytes);
		for (size_t o = 0; o < HEAP_OWNERS; o++)
			ret->owner_bytes[o] += first[i].owner_bytes[o];
	}
	if (before > rss_bytes)
		subtract_bytes(ret->owner_bytes, before - rss_bytes);
}

/*
 * Estimate the current state of one heap. *ret must be initialised; its quality stays
 * unknown if all mappings of the heap are gone.
 */
static void estimate_heap(const struct past_heap *past,
			  const struct mapping_list *mappings, struct heap *ret)
{
	struct heap_share *shares;
	size_t next = 0, count = 0;

	shares = xcalloc(past->count + 1, sizeof(*shares));
	for (size_t i = 0; i < mappings->count && next < past->count; i++) {
		const struct mapping *m = &mappings->items[i];
		size_t first;

		while (next < past->count &&
		       past->shares[next].start_addr < m->start_addr)
			next++;
		first = next;
		while (next < past->count &&
		       past->shares[next].start_addr < m->end_addr &&
		       past->shares[next].owner == m->owner)
			next++;
		if (next == first)
			continue;
		shares[count].mapping = i;
		estimate_mapping(&past->shares[first], next - first, m, &shares[count]);
		for (size_t o = 0; o < HEAP_OWNERS; o++)
			ret->owner_bytes[o] += shares[count].owner_bytes[o];
		count++;
	}
	ret->allocator = past->allocator;
	ret->shares = shares;
	ret->share_count = count;
	ret->share_capacity = past->count + 1;
	if (count == 0)
		return;
	ret->quality = QUALITY_ESTIMATE;
	ret->trimmable_bytes = past->trimmable_bytes;
	if (bytes_known(ret->trimmable_bytes) &&
	    ret->trimmable_bytes > ret->owner_bytes[OWNER_POOL_PAGES])
		ret->trimmable_bytes = ret->owner_bytes[OWNER_POOL_PAGES];
}

bool past_heap_estimate(const struct past_heap *past, const struct mapping_list *mappings,
			struct heap *ret)
{
	if (!past->shares || past->program != program_of(mappings))
		return false;
	heap_init(ret);
	estimate_heap(past, mappings, ret);
	for (size_t i = 0; i < past->other_count; i++)
		estimate_heap(&past->others[i], mappings, heap_add_other(ret));
	if (heap_total_quality(ret) != QUALITY_UNKNOWN)
		return true;
	heap_release(ret);
	return false;
}

void past_heap_store_stats(struct past_heap *past, const struct allocator_stats *stats,
			   const struct mapping_list *mappings)
{
	past_heap_release(past);
	past->program = program_of(mappings);
	past->stats = *stats;
	past->stats.text = NULL;
}

void past_heap_estimate_stats(const struct past_heap *past, struct usage *usage,
			      const struct mapping_list *mappings)
{
	struct heap_bounds bounds;

	if (past->stats.allocator == ALLOCATOR_UNKNOWN ||
	    past->program != program_of(mappings))
		return;
	classify_stats_bound(&past->stats, mappings, &bounds);
	classify_stats(usage, mappings, &past->stats, &bounds);
	if (usage->heap_quality == QUALITY_BOUND)
		usage->heap_quality = QUALITY_ESTIMATE;
}
