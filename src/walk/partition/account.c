/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/partition/walk.h"

#include "base/search.h"
#include "base/xalloc.h"
#include "walk/blocks/page_use.h"

/*
 * Create a size class for each slot size of the first root, and one for
 * all larger sizes.
 */
static void fill_classes(struct partition *p)
{
	struct heap *heap = p->heap;
	const struct partition_root *root = &p->roots[0];
	uint64_t last = 0;

	heap->class_count = root->bucket_count + 1;
	for (unsigned int i = 0; i < root->bucket_count; i++) {
		heap->classes[i].lower_bytes = last + 1;
		heap->classes[i].upper_bytes = last = partition_slot_bytes(p, root, i);
	}
	heap->classes[root->bucket_count].lower_bytes = last + 1;
	heap->classes[root->bucket_count].upper_bytes = UINT64_MAX;
}

static void account_slot(struct partition *p, const struct partition_span *span,
			 struct heap_class *class, uint64_t bit)
{
	struct heap_arena *arena = &p->heap->arenas[span->root];
	bool is_cached = bit_is_set(p->blocks->cached, bit);
	bool is_free = bit_is_set(p->blocks->not_live, bit);

	chunk_sum_add(is_cached ? &arena->cached
		      : is_free ? &arena->bin
				: &arena->live,
		      span->slot_bytes);
	chunk_sum_add(is_cached ? &class->cached
		      : is_free ? &class->free
				: &class->live,
		      span->slot_bytes);
}

static void account_span(struct partition *p, const struct partition_span *span)
{
	struct heap *heap = p->heap;
	struct extent *extent = blocks_add_extent(p->blocks);
	size_t class = SEARCH_FIRST(heap->class_count - 1, i,
				    heap->classes[i].upper_bytes >= span->slot_bytes);

	for (uint64_t i = 0, next; i < span->slot_count; i = next) {
		bool is_free = bit_is_set(p->blocks->not_live, span->first_bit + i);

		for (next = i;
		     next < span->slot_count &&
		     bit_is_set(p->blocks->not_live, span->first_bit + next) == is_free;
		     next++)
			account_slot(p, span, &heap->classes[class],
				     span->first_bit + next);
		page_use_add(p->blocks, span->start_addr + i * span->slot_bytes,
			     span->start_addr + next * span->slot_bytes,
			     is_free ? USE_FREE : USE_LIVE);
	}
	/* the bytes after the last slot of a span are unusable */
	extent->kind = EXTENT_UNITS;
	extent->start_addr = span->start_addr;
	extent->end_addr = span->start_addr + span->slot_count * span->slot_bytes;
	extent->unit_bytes = span->slot_bytes;
	extent->first_bit = span->first_bit;
	extent->arena = span->root;
}

static void set_quality(struct partition *p)
{
	struct heap *heap = p->heap;
	bool has_cache = false;

	heap->quality = QUALITY_EXACT;
	for (size_t i = 0; i < p->root_count; i++) {
		has_cache |= p->roots[i].has_cache;
		if (p->roots[i].broken_count == 0)
			continue;
		heap->quality = QUALITY_ESTIMATE;
		heap->problem = "PartitionAlloc was changing a list, or a list is "
				"corrupt";
	}
	if (heap->quality == QUALITY_EXACT && has_cache && p->cache_count == 0) {
		heap->quality = QUALITY_BOUND;
		heap->problem = "the caches of PartitionAlloc's threads were not found, "
				"and their slots count as live";
	}
	if (heap->quality == QUALITY_EXACT && p->may_lack_root) {
		heap->quality = QUALITY_BOUND;
		heap->problem = "static data is swapped out that may contain roots of "
				"partitions";
	}
	if (p->input->is_running) {
		heap->quality = QUALITY_ESTIMATE;
		heap->problem = "the process ran while its heap was read";
	}
}

static bool is_in_area(const struct partition *p, uint64_t addr)
{
	size_t i = SEARCH_FIRST(p->area_count, k, p->areas[k].end_addr > addr);

	return i < p->area_count && p->areas[i].start_addr <= addr;
}

void partition_account(struct partition *p)
{
	struct heap *heap = p->heap;

	heap->arenas = xcalloc(p->root_count, sizeof(*heap->arenas));
	heap->arena_count = p->root_count;
	heap->cache_count = p->cache_count;
	for (size_t i = 0; i < p->root_count; i++) {
		heap->arenas[i].addr = p->roots[i].addr;
		heap->arenas[i].number = (uint32_t)i;
		heap->arenas[i].system_bytes =
			p->roots[i].found_super_bytes + p->roots[i].found_direct_bytes;
		heap->arenas[i].trimmable_bytes = BYTES_UNKNOWN;
	}
	fill_classes(p);
	for (size_t i = 0; i < p->area_count; i++) {
		const struct partition_area *area = &p->areas[i];

		page_use_add(p->blocks, area->start_addr, area->end_addr, USE_HEAP);
		if (!is_in_area(p, area->metadata_addr))
			page_use_add(p->blocks, area->metadata_addr,
				     area->metadata_addr + IMAGE_PAGE_BYTES, USE_HEAP);
	}
	for (size_t i = 0; i < p->span_count; i++)
		account_span(p, &p->spans[i]);
	blocks_sort(p->blocks);
	/* PartitionAlloc's own policy determines when it returns empty spans */
	heap->trimmable_bytes = BYTES_UNKNOWN;
	page_use_share(p->blocks, p->input->mappings, heap);
	set_quality(p);
}
