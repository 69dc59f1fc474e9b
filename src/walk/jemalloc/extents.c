/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/jemalloc/walk.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/xalloc.h"

struct reading {
	struct jemalloc *j;
	/*
	 * One bit for each address in the image at which an extent structure may start.
	 * The bit is set if a known extent structure uses the memory at the address.
	 */
	uint64_t *claimed;
	/* problem that concerns the whole heap instead of a single arena */
	const char *problem;
};

void jemalloc_reject_arena(struct jemalloc *j, size_t arena, const char *problem)
{
	if (!j->heap->arenas[arena].problem)
		j->heap->arenas[arena].problem = problem;
}

/*
 * Return the index, in the array `arenas` of struct heap, of the arena to which jemalloc
 * gave this number. Add the arena if it is new.
 */
static size_t find_arena(struct jemalloc *j, unsigned int number)
{
	struct heap *heap = j->heap;

	if (j->arena_slots[number] == 0) {
		heap->arenas = xgrow(heap->arenas, &j->arena_capacity,
				     heap->arena_count + 1, sizeof(*heap->arenas));
		heap->arenas[heap->arena_count] = (struct heap_arena){
			.number = number,
			.trimmable_bytes = BYTES_UNKNOWN,
		};
		j->arena_slots[number] = (uint16_t)++heap->arena_count;
	}
	return j->arena_slots[number] - 1U;
}

/*
 * Record that an extent structure uses a memory range, which may cross a page boundary.
 * Return false if another extent structure uses part of the range.
 */
static bool claim(struct reading *reading, uint64_t extent_addr)
{
	for (uint64_t addr = extent_addr; addr < extent_addr + JEMALLOC_EXTENT_BYTES;
	     addr += JEMALLOC_EXTENT_ALIGN) {
		const struct image_run *run = image_run_at(reading->j->image, addr);
		uint64_t bit;

		if (!run)
			continue;
		bit = (run->offset_bytes + (addr - run->start_addr)) /
		      JEMALLOC_EXTENT_ALIGN;
		if (bit_is_set(reading->claimed, bit))
			return false;
		bit_set(reading->claimed, bit);
	}
	return true;
}

/* Return true if the extent is in anonymous memory and does not overlap a base block. */
static bool is_place_valid(struct jemalloc *j, const struct jemalloc_extent *extent)
{
	const struct jemalloc_base *base = jemalloc_base_after(j, extent->start_addr);

	return jemalloc_is_anonymous(j, extent->start_addr, extent->end_addr) &&
	       (!base || base->start_addr >= extent->end_addr);
}

static const char *read_extent(struct reading *reading,
			       const struct jemalloc_entry *entry,
			       const struct jemalloc_raw *raw,
			       struct jemalloc_extent *ret)
{
	struct jemalloc *j = reading->j;

	ret->state = jemalloc_state_of(j, raw);
	if (ret->state >= JEMALLOC_STATE_COUNT_)
		return "it was paused in the middle of a change";
	if (ret->start_addr != entry->page_addr || !is_place_valid(j, ret))
		return "an extent's address is not the one in the page map";
	if (jemalloc_is_in_huge_cache(j, raw))
		ret->state = JEMALLOC_DIRTY;
	else if (!jemalloc_entry_fits(j, entry, raw))
		return "an extent does not match the page map";
	if (!claim(reading, entry->extent_addr))
		return "two extents use the same structure";
	if (ret->state == JEMALLOC_ACTIVE) {
		if (!jemalloc_read_blocks(j, raw, ret))
			return "an extent does not fit its size class";
		if (!jemalloc_is_bitmap_valid(j, raw, ret) && !jemalloc_is_running(j))
			return "a slab's count of its free blocks is wrong";
	} else {
		ret->first_addr = ret->start_addr;
		ret->block_bytes = ret->end_addr - ret->start_addr;
		ret->block_count = 1;
	}
	return NULL;
}

static void add_extent(struct jemalloc *j, const struct jemalloc_extent *extent)
{
	j->extents = xgrow(j->extents, &j->extent_capacity, j->extent_count + 1,
			   sizeof(*j->extents));
	j->extents[j->extent_count] = *extent;
	j->extents[j->extent_count++].first_bit = j->bit_count;
	j->bit_count += extent->block_count;
}

static uint64_t add_entry(void *context, const struct jemalloc_entry *entry)
{
	struct reading *reading = context;
	struct jemalloc *j = reading->j;
	struct jemalloc_extent extent = { .extent_addr = entry->extent_addr };
	struct jemalloc_raw raw;
	uint64_t next_addr = entry->page_addr + IMAGE_PAGE_BYTES;
	const char *problem;
	unsigned int number;

	if (!jemalloc_read_raw(j, entry->extent_addr, &raw) ||
	    (raw.bits & JEMALLOC_ARENAS_MAX) == JEMALLOC_ARENAS_MAX) {
		if (!jemalloc_is_running(j))
			reading->problem = "jemalloc's page map is corrupted";
		return next_addr;
	}
	number = raw.bits & JEMALLOC_ARENAS_MAX;
	extent.arena = (uint16_t)find_arena(j, number);
	extent.start_addr = jemalloc_start_of(&raw);
	extent.end_addr = extent.start_addr + jemalloc_size_of(&raw);
	problem = read_extent(reading, entry, &raw, &extent);
	if (problem && jemalloc_is_running(j))
		j->heap->skipped_bytes +=
			image_resident_bytes(j->image, entry->page_addr, next_addr);
	else if (problem)
		jemalloc_reject_arena(j, extent.arena, problem);
	if (problem)
		return next_addr;
	if (j->layout->has_leaf_state && jemalloc_is_of_huge_page(&raw))
		j->has_huge_slabs = true;
	add_extent(j, &extent);
	return extent.end_addr;
}

static int compare_arenas(const void *a, const void *b)
{
	const struct heap_arena *left = a, *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

/*
 * Sort the arenas, which are in the order in which their extents were found, by
 * jemalloc's arena numbers.
 */
static void sort_arenas(struct jemalloc *j)
{
	struct heap *heap = j->heap;
	uint16_t *places = xcalloc(heap->arena_count + 1, sizeof(*places));

	if (heap->arena_count > 0)
		qsort(heap->arenas, heap->arena_count, sizeof(*heap->arenas),
		      compare_arenas);
	for (size_t i = 0; i < heap->arena_count; i++)
		places[j->arena_slots[heap->arenas[i].number] - 1] = (uint16_t)i;
	for (size_t i = 0; i < j->extent_count; i++)
		j->extents[i].arena = places[j->extents[i].arena];
	free(places);
}

/*
 * Set the bits of free blocks from the bitmaps of the slabs. An inactive extent becomes
 * one free block.
 */
static void fill_bits(struct jemalloc *j)
{
	for (size_t i = 0; i < j->extent_count; i++) {
		const struct jemalloc_extent *extent = &j->extents[i];
		struct jemalloc_raw raw;

		if (extent->state != JEMALLOC_ACTIVE) {
			bit_set(j->blocks->not_live, extent->first_bit);
			continue;
		}
		if (!extent->is_slab || !jemalloc_read_raw(j, extent->extent_addr, &raw))
			continue;
		for (unsigned int b = 0; b < extent->block_count; b++)
			if (bit_is_set(raw.free_bits, b))
				bit_set(j->blocks->not_live, extent->first_bit + b);
	}
}

const char *jemalloc_read_extents(struct jemalloc *j)
{
	struct reading reading = { .j = j };
	bool is_whole;

	reading.claimed =
		xcalloc((size_t)(j->image->length_bytes / JEMALLOC_EXTENT_ALIGN / 64 + 1),
			sizeof(uint64_t));
	is_whole = jemalloc_for_each_entry(j, add_entry, &reading);
	free(reading.claimed);
	sort_arenas(j);
	if (!is_whole)
		return "jemalloc's page map is corrupted";
	blocks_init(j->blocks, j->image, j->bit_count + j->base_count);
	fill_bits(j);
	return reading.problem;
}

const struct jemalloc_extent *jemalloc_extent_at(const struct jemalloc *j, uint64_t addr)
{
	size_t low = SEARCH_FIRST(j->extent_count, i, j->extents[i].end_addr > addr);

	return low < j->extent_count && j->extents[low].start_addr <= addr
		       ? &j->extents[low]
		       : NULL;
}
