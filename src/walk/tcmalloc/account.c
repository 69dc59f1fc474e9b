/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/tcmalloc/walk.h"

#include <string.h>

#include "base/xalloc.h"
#include "walk/blocks/page_use.h"

/*
 * Offset of the third word in the header (MallocBlock in src/debugallocation.cc) that the
 * debug library places before each block. The word is a constant while the block is
 * allocated.
 */
#define DEBUG_MAGIC_OFFSET 16
#define DEBUG_MAGIC UINT64_C(0xDEADBEEF)
#define DEBUG_SPANS 64
#define DEBUG_BLOCKS 16

static const enum heap_stretch stretch_of[] = {
	[TCMALLOC_IN_USE] = HEAP_ACTIVE,
	[TCMALLOC_FREE] = HEAP_DIRTY,
	[TCMALLOC_RETURNED] = HEAP_RETAINED,
};

/*
 * Return the index of the span's size class in struct heap. Large blocks are the last
 * class.
 */
static size_t class_index(const struct tcmalloc *t, const struct tcmalloc_span *span)
{
	return span->class ? span->class - 1u : t->class_count - 1;
}

static void account_block(struct tcmalloc *t, const struct tcmalloc_span *span,
			  uint64_t bit)
{
	struct heap_arena *arena = &t->heap->arenas[0];
	struct heap_class *class = &t->heap->classes[class_index(t, span)];
	bool is_cached = bit_is_set(t->blocks->cached, bit);
	bool is_free = bit_is_set(t->blocks->not_live, bit);

	chunk_sum_add(is_cached ? &arena->cached
		      : is_free ? &arena->bin
				: &arena->live,
		      span->block_bytes);
	chunk_sum_add(is_cached ? &class->cached
		      : is_free ? &class->free
				: &class->live,
		      span->block_bytes);
}

static void account_blocks(struct tcmalloc *t, const struct tcmalloc_span *span)
{
	struct extent *extent = blocks_add_extent(t->blocks);

	for (uint64_t i = 0, next; i < span->block_count; i = next) {
		uint64_t first_bit = span->first_bit;
		bool is_free = bit_is_set(t->blocks->not_live, first_bit + i);

		for (next = i;
		     next < span->block_count &&
		     bit_is_set(t->blocks->not_live, first_bit + next) == is_free;
		     next++)
			account_block(t, span, first_bit + next);
		page_use_add(t->blocks, span->start_addr + i * span->block_bytes,
			     span->start_addr + next * span->block_bytes,
			     is_free ? USE_FREE : USE_LIVE);
	}
	extent->kind = EXTENT_UNITS;
	extent->start_addr = span->start_addr;
	extent->end_addr = span->start_addr + span->block_count * span->block_bytes;
	extent->unit_bytes = span->block_bytes;
	extent->first_bit = span->first_bit;
}

static void account_span(struct tcmalloc *t, const struct tcmalloc_span *span)
{
	struct heap_arena *arena = &t->heap->arenas[0];
	struct stretch_sum *sum = &arena->stretches[stretch_of[span->location]];

	sum->count++;
	sum->bytes += span->end_addr - span->start_addr;
	sum->resident_bytes +=
		image_resident_bytes(t->image, span->start_addr, span->end_addr);
	page_use_add(t->blocks, span->start_addr, span->end_addr, USE_HEAP);
	if (span->location == TCMALLOC_IN_USE)
		account_blocks(t, span);
	else
		page_use_add(t->blocks, span->start_addr, span->end_addr, USE_FREE);
}

/*
 * Add the pages of tcmalloc's own data. Each page becomes one block in the state
 * BLOCK_OWN.
 */
static void account_own(struct tcmalloc *t)
{
	uint64_t bit = t->bit_count;

	for (size_t r = 0; r < t->image->run_count; r++) {
		const struct image_run *run = &t->image->runs[r];
		uint64_t page = run->offset_bytes / IMAGE_PAGE_BYTES;

		for (uint64_t addr = run->start_addr; addr < run->end_addr;
		     addr += IMAGE_PAGE_BYTES, page++) {
			struct extent *extent;

			if (!t->own_pages[page])
				continue;
			page_use_add(t->blocks, addr, addr + IMAGE_PAGE_BYTES, USE_HEAP);
			extent = blocks_add_extent(t->blocks);
			extent->kind = EXTENT_UNITS;
			extent->start_addr = addr;
			extent->end_addr = addr + IMAGE_PAGE_BYTES;
			extent->unit_bytes = IMAGE_PAGE_BYTES;
			extent->first_bit = bit;
			bit_set(t->blocks->not_live, bit);
			bit_set(t->blocks->own, bit);
			bit++;
		}
	}
}

static void fill_classes(struct tcmalloc *t)
{
	struct heap *heap = t->heap;

	heap->class_count = t->class_count;
	for (unsigned int i = 1; i < t->class_count; i++) {
		heap->classes[i - 1].lower_bytes = t->classes[i - 1].bytes + 1;
		heap->classes[i - 1].upper_bytes = t->classes[i].bytes;
	}
	heap->classes[t->class_count - 1].lower_bytes =
		t->classes[t->class_count - 1].bytes + 1;
	heap->classes[t->class_count - 1].upper_bytes = UINT64_MAX;
}

/* Return true if blocks of the span begin with the header of the debug library. */
static bool has_debug_header(struct tcmalloc *t, const struct tcmalloc_span *span)
{
	for (uint64_t i = 0; i < span->block_count && i < DEBUG_BLOCKS; i++) {
		uint64_t addr = span->start_addr + i * span->block_bytes, magic;

		if (!bit_is_set(t->blocks->not_live, span->first_bit + i) &&
		    image_read(t->image, addr + DEBUG_MAGIC_OFFSET, &magic) &&
		    magic == DEBUG_MAGIC)
			return true;
	}
	return false;
}

/*
 * Return true if the blocks in some spans, evenly distributed over all spans, have the
 * headers of the debug library.
 */
static bool is_debug_library(struct tcmalloc *t)
{
	size_t step = t->span_count / DEBUG_SPANS + 1, seen = 0, found = 0;

	for (size_t i = 0; i < t->span_count; i += step) {
		if (t->spans[i].class == 0)
			continue;
		seen++;
		found += has_debug_header(t, &t->spans[i]);
	}
	return found > seen / 2;
}

/*
 * Return a text that explains how swapped-out memory affects the figures, or NULL if no
 * check failed because of it.
 */
static const char *explain_absent(const struct tcmalloc *t)
{
	if (t->lacks_spans && t->absent_lists > 0)
		return "spans and free lists of tcmalloc are swapped out: blocks of these "
		       "spans are not counted, and blocks of these lists count as live";
	if (t->lacks_spans)
		return "spans of tcmalloc are swapped out, and their blocks are not "
		       "counted";
	return t->absent_lists > 0 ? "free lists of tcmalloc are swapped out, and their "
				     "blocks count as live"
				   : NULL;
}

static void set_quality(struct tcmalloc *t)
{
	struct heap *heap = t->heap;

	heap->quality = QUALITY_EXACT;
	if (t->broken_spans > 0 || t->broken_lists > 0)
		heap->problem = "tcmalloc was changing a list, or a list is corrupt";
	else if (!t->are_stats_equal && !t->lacks_spans)
		heap->problem =
			"tcmalloc's own figures differ from the spans that were found";
	else if (is_debug_library(t))
		heap->problem = "tcmalloc's debug library keeps freed blocks";
	if (t->input->is_running && !heap->problem)
		heap->problem = "the process ran while its heap was read";
	if (heap->problem) {
		heap->quality = QUALITY_ESTIMATE;
	} else {
		heap->problem = explain_absent(t);
		if (heap->problem)
			heap->quality = QUALITY_BOUND;
	}
}

void tcmalloc_account(struct tcmalloc *t)
{
	struct heap *heap = t->heap;
	struct heap_arena *arena;

	heap->arenas = arena = xcalloc(1, sizeof(*heap->arenas));
	heap->arena_count = 1;
	heap->cache_count = t->cache_count;
	fill_classes(t);
	for (size_t i = 0; i < t->span_count; i++)
		account_span(t, &t->spans[i]);
	account_own(t);
	blocks_sort(t->blocks);
	arena->system_bytes = t->stats.system_bytes;
	arena->trimmable_bytes = arena->stretches[HEAP_DIRTY].resident_bytes;
	heap->trimmable_bytes = arena->trimmable_bytes;
	/*
	 * Two ranges of the allocator's data: from the page map to the lists of free
	 * spans, and the central lists.
	 */
	blocks_add_own_range(t->blocks, t->root_addr, t->row_end_addr + sizeof(t->stats));
	blocks_add_own_range(t->blocks, t->central_addr,
			     t->central_addr +
				     (uint64_t)TCMALLOC_CENTRAL_BYTES * t->class_count);
	page_use_share(t->blocks, t->input->mappings, heap);
	set_quality(t);
}
