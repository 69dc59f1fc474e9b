/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/hotspot/walk.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/xalloc.h"
#include "walk/blocks/page_use.h"

static const char *const space_names[HOTSPOT_SPACE_COUNT_] = {
	[HOTSPOT_EDEN] = "eden",
	[HOTSPOT_SURVIVOR] = "survivor",
	[HOTSPOT_OLD] = "old",
	[HOTSPOT_HUMONGOUS] = "humongous",
	[HOTSPOT_ARCHIVE] = "archive",
	[HOTSPOT_FREE] = "free",
	[HOTSPOT_SHARED] = "shared heap of ZGC",
	[HOTSPOT_CODE] = "code cache",
	[HOTSPOT_CODE_NON_PROFILED] = "code cache, non-profiled",
	[HOTSPOT_CODE_PROFILED] = "code cache, profiled",
	[HOTSPOT_CODE_NON_NMETHODS] = "code cache, non-nmethods",
	[HOTSPOT_METASPACE] = "metaspace",
	[HOTSPOT_CLASS_SPACE] = "class space",
	[HOTSPOT_CARDS] = "card table",
	[HOTSPOT_STACKS] = "thread stacks",
};

static int compare_ranges(const void *a, const void *b)
{
	const struct hotspot_range *x = a, *y = b;

	if (x->start_addr != y->start_addr)
		return x->start_addr < y->start_addr ? -1 : 1;
	return (x->end_addr > y->end_addr) - (x->end_addr < y->end_addr);
}

static bool are_disjoint(const struct hotspot *h)
{
	for (size_t i = 1; i < h->range_count; i++)
		if (h->ranges[i].start_addr < h->ranges[i - 1].end_addr)
			return false;
	return true;
}

/*
 * Return true if resident memory of the Java heap belongs to none of the ranges. The
 * JVM's description of this memory is then probably swapped out.
 */
static bool has_gap(const struct hotspot *h)
{
	uint64_t addr = h->reserved_addr;

	for (size_t i = 0; i < h->range_count && addr < h->reserved_end; i++) {
		const struct hotspot_range *range = &h->ranges[i];

		if (range->end_addr <= addr)
			continue;
		if (range->start_addr >= h->reserved_end)
			break;
		if (range->start_addr > addr &&
		    image_resident_bytes(h->image, addr, range->start_addr) > 0)
			return true;
		addr = range->end_addr;
	}
	return addr < h->reserved_end &&
	       image_resident_bytes(h->image, addr, h->reserved_end) > 0;
}

/*
 * Count the committed part of a range, which is anonymous memory that the JVM may use.
 * Pages of the class data archive that are mapped from its file still count as file
 * memory.
 */
static void account_part(struct hotspot *h, const struct hotspot_range *range,
			 uint64_t start, uint64_t end)
{
	struct heap_space *space = &h->spaces[range->space];
	struct heap_arena *arena = &h->heap->arenas[0];
	uint64_t resident = image_resident_bytes(h->image, start, end);

	page_use_add(h->blocks, start, end, USE_HEAP);
	space->resident_bytes += resident;
	arena->system_bytes += end - start;
	if (range->use == HOTSPOT_LIVE) {
		page_use_add(h->blocks, start, end, USE_LIVE);
	} else if (range->use == HOTSPOT_UNUSED) {
		page_use_add(h->blocks, start, end, USE_FREE);
		space->free_bytes += end - start;
		arena->bin.bytes += end - start;
	}
	if (range->space <= HOTSPOT_FREE)
		h->committed_bytes += end - start;
}

static void account_parts(struct hotspot *h, const struct hotspot_range *range)
{
	const struct mapping_list *list = h->input->mappings;
	size_t i =
		SEARCH_FIRST(list->count, k, list->items[k].end_addr > range->start_addr);

	for (; i < list->count && list->items[i].start_addr < range->end_addr; i++) {
		const struct mapping *m = &list->items[i];

		if (m->inode == 0 && walk_wants_mapping(m))
			account_part(h, range,
				     m->start_addr > range->start_addr
					     ? m->start_addr
					     : range->start_addr,
				     m->end_addr < range->end_addr ? m->end_addr
								   : range->end_addr);
	}
}

static void add_extent(struct hotspot *h, const struct hotspot_range *range, uint64_t bit)
{
	struct extent *extent = blocks_add_extent(h->blocks);

	extent->kind = EXTENT_UNITS;
	extent->start_addr = range->start_addr;
	extent->end_addr = range->end_addr;
	extent->unit_bytes = range->end_addr - range->start_addr;
	extent->first_bit = bit;
	if (range->use != HOTSPOT_LIVE)
		bit_set(h->blocks->not_live, bit);
}

static void account_range(struct hotspot *h, size_t index)
{
	const struct hotspot_range *range = &h->ranges[index];
	struct heap_space *space = &h->spaces[range->space];
	struct heap_arena *arena = &h->heap->arenas[0];
	uint64_t bytes = range->end_addr - range->start_addr;

	if (range->use == HOTSPOT_SKIPPED)
		return;
	account_parts(h, range);
	if (range->use == HOTSPOT_OWN)
		return;
	add_extent(h, range, index);
	if (range->use == HOTSPOT_LIVE) {
		space->live_bytes += bytes;
		chunk_sum_add(&arena->live, bytes);
		if (range->space >= HOTSPOT_CODE)
			space->count++;
		return;
	}
	arena->bin.count++;
}

/*
 * Return how many resident bytes System.gc() may release: the free regions of G1,
 * provided that the heap does not shrink below its minimum size. The call releases less
 * if the option MaxHeapFreeRatio requires more free memory, and more if the collection
 * frees other regions.
 */
static uint64_t trimmable_bytes(const struct hotspot *h)
{
	uint64_t free_bytes = h->spaces[HOTSPOT_FREE].resident_bytes;
	uint64_t excess_bytes = h->committed_bytes > h->flags[FLAG_MIN_HEAP]
					? h->committed_bytes - h->flags[FLAG_MIN_HEAP]
					: 0;

	if (h->collector != HOTSPOT_G1)
		return BYTES_UNKNOWN;
	return free_bytes < excess_bytes ? free_bytes : excess_bytes;
}

static void add_spaces(struct hotspot *h)
{
	for (size_t i = 0; i < HOTSPOT_SPACE_COUNT_; i++) {
		const struct heap_space *from = &h->spaces[i];
		struct heap_space *to;

		if (from->count == 0 && from->live_bytes == 0 &&
		    from->resident_bytes == 0)
			continue;
		to = heap_add_space(h->heap, space_names[i]);
		*to = *from;
		to->name = space_names[i];
	}
}

static void set_quality(struct hotspot *h)
{
	struct heap *heap = h->heap;

	heap->quality = QUALITY_ESTIMATE;
	if (h->is_collecting)
		heap->problem = "the JVM was collecting garbage";
	else if (h->broken_count > 0)
		heap->problem = "some structures of the JVM are corrupt or swapped out";
	else if (h->flags[FLAG_NUMA] && h->collector == HOTSPOT_PARALLEL)
		heap->problem = "eden is divided among NUMA nodes";
	else if (h->input->is_running)
		heap->problem = "the process ran while its heap was read";
	else
		heap->quality = QUALITY_EXACT;
	if (h->reserved_addr != 0)
		return;
	if (heap->quality == QUALITY_EXACT)
		heap->quality = QUALITY_BOUND;
	heap->problem =
		h->collector == HOTSPOT_Z
			? "the objects of ZGC are in shared memory, which is not read"
			: "memstate cannot read the heap of this garbage collector";
}

const char *hotspot_account(struct hotspot *h)
{
	struct heap *heap = h->heap;

	if (h->range_count > 0)
		qsort(h->ranges, h->range_count, sizeof(*h->ranges), compare_ranges);
	if (!are_disjoint(h))
		return "parts of the JVM's memory overlap";
	if (has_gap(h))
		h->broken_count++;
	heap->arenas = xcalloc(1, sizeof(*heap->arenas));
	heap->arena_count = 1;
	heap->class_count = 0;
	blocks_init(h->blocks, h->image, h->range_count);
	for (size_t i = 0; i < h->range_count; i++)
		account_range(h, i);
	blocks_sort(h->blocks);
	page_use_share(h->blocks, h->input->mappings, heap);
	add_spaces(h);
	heap->trimmable_bytes = heap->arenas[0].trimmable_bytes = trimmable_bytes(h);
	set_quality(h);
	return NULL;
}
