/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/jemalloc/walk.h"

#include "base/units.h"
#include "walk/blocks/page_use.h"

static const enum heap_stretch stretch_of[JEMALLOC_STATE_COUNT_] = {
	[JEMALLOC_ACTIVE] = HEAP_ACTIVE,
	[JEMALLOC_DIRTY] = HEAP_DIRTY,
	[JEMALLOC_MUZZY] = HEAP_MUZZY,
	[JEMALLOC_RETAINED] = HEAP_RETAINED,
};

static void account_block(struct jemalloc *j, const struct jemalloc_extent *extent,
			  unsigned int index)
{
	struct heap_arena *arena = &j->heap->arenas[extent->arena];
	struct heap_class *class = &j->heap->classes[extent->class];
	uint64_t bit = extent->first_bit + index;
	uint64_t start = extent->first_addr + index * extent->block_bytes;
	uint64_t bytes = extent->block_bytes;

	if (!bit_is_set(j->blocks->not_live, bit)) {
		chunk_sum_add(&arena->live, bytes);
		chunk_sum_add(&class->live, bytes);
		page_use_add(j->blocks, start, start + bytes, USE_LIVE);
	} else if (bit_is_set(j->blocks->own, bit)) {
		chunk_sum_add(&arena->own, bytes);
		chunk_sum_add(&class->own, bytes);
	} else {
		bool is_cached = bit_is_set(j->blocks->cached, bit);

		chunk_sum_add(is_cached ? &arena->cached : &arena->bin, bytes);
		chunk_sum_add(is_cached ? &class->cached : &class->free, bytes);
		page_use_add(j->blocks, start, start + bytes, USE_FREE);
	}
}

static void add_extent(struct jemalloc *j, uint64_t start_addr, uint64_t unit_bytes,
		       uint64_t count, uint64_t first_bit)
{
	struct extent *extent = blocks_add_extent(j->blocks);

	extent->kind = EXTENT_UNITS;
	extent->start_addr = start_addr;
	extent->end_addr = start_addr + count * unit_bytes;
	extent->unit_bytes = unit_bytes;
	extent->first_bit = first_bit;
}

static void account_extent(struct jemalloc *j, const struct jemalloc_extent *extent)
{
	struct heap_arena *arena = &j->heap->arenas[extent->arena];
	uint64_t bytes = extent->end_addr - extent->start_addr;
	uint64_t resident_bytes =
		image_resident_bytes(j->image, extent->start_addr, extent->end_addr);
	struct stretch_sum *sum = &arena->stretches[stretch_of[extent->state]];

	sum->count++;
	sum->bytes += bytes;
	sum->resident_bytes += resident_bytes;
	arena->system_bytes += bytes;
	page_use_add(j->blocks, extent->start_addr, extent->end_addr, USE_HEAP);
	if (extent->state == JEMALLOC_ACTIVE) {
		for (unsigned int i = 0; i < extent->block_count; i++)
			account_block(j, extent, i);
	} else {
		page_use_add(j->blocks, extent->start_addr, extent->end_addr, USE_FREE);
	}
	if (extent->state == JEMALLOC_DIRTY || extent->state == JEMALLOC_MUZZY)
		arena->trimmable_bytes += resident_bytes;
	add_extent(j, extent->first_addr, extent->block_bytes, extent->block_count,
		   extent->first_bit);
	j->blocks->extents[j->blocks->extent_count - 1].arena = extent->arena;
}

/*
 * Count all base blocks as jemalloc's own data. Unused parts of base blocks are not
 * resident, so they do not count.
 */
static void account_bases(struct jemalloc *j)
{
	for (size_t i = 0; i < j->base_count; i++) {
		const struct jemalloc_base *base = &j->bases[i];
		uint64_t bit = j->bit_count + i;

		page_use_add(j->blocks, base->start_addr, base->end_addr, USE_HEAP);
		bit_set(j->blocks->not_live, bit);
		bit_set(j->blocks->own, bit);
		add_extent(j, base->start_addr, base->end_addr - base->start_addr, 1,
			   bit);
	}
}

static void fill_classes(struct jemalloc *j)
{
	struct heap *heap = j->heap;

	heap->class_count = j->class_count;
	for (size_t i = 0; i < j->class_count; i++) {
		heap->classes[i].lower_bytes = i ? j->class_bytes[i - 1] + 1 : 1;
		heap->classes[i].upper_bytes = j->class_bytes[i];
	}
}

/*
 * Return a text that explains how swapped-out memory affects the figures, or NULL if no
 * structure may be missing because of it.
 */
static const char *explain_absent(const struct jemalloc *j)
{
	bool lacks_extents = jemalloc_may_lack_extents(j);

	if (lacks_extents && j->absent_caches > 0)
		return "parts of jemalloc's page map may be swapped out, and their blocks "
		       "are not counted; blocks of swapped-out thread caches count as "
		       "live";
	if (lacks_extents)
		return "parts of jemalloc's page map may be swapped out, and their blocks "
		       "are not counted";
	if (j->absent_caches > 0)
		return "thread caches of jemalloc are swapped out, and their blocks count "
		       "as live";
	return jemalloc_may_lack_base(j) ? "memory is swapped out that may contain "
					   "jemalloc's own data"
					 : NULL;
}

static void set_quality(struct jemalloc *j)
{
	struct heap *heap = j->heap;

	if (!heap->problem && !jemalloc_is_running(j))
		heap->problem = explain_absent(j);
	if (!heap->problem && j->has_huge_slabs)
		heap->problem =
			"with opt.hpa, free parts of huge pages cannot be identified";
	heap->quality = !heap->problem	       ? QUALITY_EXACT
			: j->broken_caches > 0 ? QUALITY_ESTIMATE
					       : QUALITY_BOUND;
	if (jemalloc_is_running(j)) {
		heap->quality = QUALITY_ESTIMATE;
		heap->problem = "live includes cached blocks, because the process ran";
	}
	heap->trimmable_bytes = 0;
	for (size_t i = 0; i < heap->arena_count; i++) {
		const struct heap_arena *arena = &heap->arenas[i];

		heap->trimmable_bytes =
			bytes_add(heap->trimmable_bytes, arena->trimmable_bytes);
		if (!arena->problem)
			continue;
		heap->quality = QUALITY_ESTIMATE;
		heap->problem = arena->problem;
	}
}

void jemalloc_account(struct jemalloc *j)
{
	struct heap *heap = j->heap;

	fill_classes(j);
	for (size_t i = 0; i < heap->arena_count; i++)
		if (!heap->arenas[i].problem)
			heap->arenas[i].trimmable_bytes = 0;
	for (size_t i = 0; i < j->extent_count; i++)
		if (!heap->arenas[j->extents[i].arena].problem)
			account_extent(j, &j->extents[i]);
	account_bases(j);
	blocks_sort(j->blocks);
	page_use_share(j->blocks, j->input->mappings, heap);
	set_quality(j);
}
