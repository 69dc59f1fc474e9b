/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/mimalloc/map.h"

#include <stdio.h>

#include "base/search.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "walk/blocks/page_use.h"

/* Size of mi_heap_t, whose members differ between versions. */
#define HEAP_BYTES 3064

/*
 * mimalloc's size classes: 8 multiples of 8 bytes, then 4 classes for each power of two
 * (mi_bin() in page-queue.c). Large blocks may have any size.
 */
#define SMALL_CLASSES 8
#define CLASS_COUNT 172

static uint64_t class_bytes(size_t index)
{
	uint64_t power, quarter;

	if (index < SMALL_CLASSES)
		return (index + 1) * 8;
	if (index >= CLASS_COUNT - 1)
		return UINT64_MAX;
	power = (index - SMALL_CLASSES) / 4;
	quarter = (index - SMALL_CLASSES) % 4;
	return (UINT64_C(64) << power) + (quarter + 1) * (UINT64_C(16) << power);
}

static void fill_classes(struct heap *heap)
{
	heap->class_count = CLASS_COUNT;
	for (size_t i = 0; i < CLASS_COUNT; i++) {
		heap->classes[i].lower_bytes = i ? class_bytes(i - 1) + 1 : 1;
		heap->classes[i].upper_bytes = class_bytes(i);
	}
}

/* Count the blocks [first, end) of a page, which are all live or all free. */
static void account_blocks(struct mimalloc *m, const struct mimalloc_page *page,
			   uint64_t first, uint64_t end, bool is_free)
{
	struct heap_arena *arena = &m->heap->arenas[0];
	size_t index = SEARCH_FIRST(CLASS_COUNT - 1, i,
				    m->heap->classes[i].upper_bytes >= page->block_bytes);
	struct heap_class *class = &m->heap->classes[index];
	struct chunk_sum *sums[] = { is_free ? &arena->bin : &arena->live,
				     is_free ? &class->free : &class->live };

	for (size_t i = 0; i < 2; i++) {
		sums[i]->count += end - first;
		sums[i]->bytes += (end - first) * page->block_bytes;
	}
	page_use_add(m->blocks, page->block_addr + first * page->block_bytes,
		     page->block_addr + end * page->block_bytes,
		     is_free ? USE_FREE : USE_LIVE);
}

static void account_page(struct mimalloc *m, const struct mimalloc_page *page)
{
	struct stretch_sum *sum = &m->heap->arenas[0].stretches[HEAP_ACTIVE];
	uint64_t capacity = page->capacity, bytes = page->block_bytes;
	struct extent *extent;

	if (page->is_absent)
		return;
	sum->count++;
	sum->bytes += page->end_addr - page->start_addr;
	sum->resident_bytes +=
		image_resident_bytes(m->image, page->start_addr, page->end_addr);
	for (uint64_t i = 0, next; i < capacity; i = next) {
		bool is_free = bit_is_set(m->blocks->not_live, page->first_bit + i);

		for (next = i + 1;
		     next < capacity &&
		     bit_is_set(m->blocks->not_live, page->first_bit + next) == is_free;
		     next++)
			;
		account_blocks(m, page, i, next, is_free);
	}
	/*
	 * the blocks after the first `capacity` blocks were never handed out, so no
	 * list contains them
	 */
	page_use_add(m->blocks, page->block_addr + capacity * bytes,
		     page->block_addr + page->reserved * bytes, USE_FREE);
	if (capacity == 0)
		return;
	extent = blocks_add_extent(m->blocks);
	extent->kind = EXTENT_UNITS;
	extent->start_addr = page->block_addr;
	extent->end_addr = page->block_addr + capacity * bytes;
	extent->unit_bytes = bytes;
	extent->first_bit = page->first_bit;
}

static void account_free(struct mimalloc *m)
{
	struct stretch_sum *sum = &m->heap->arenas[0].stretches[HEAP_DIRTY];

	for (size_t i = 0; i < m->free.count; i++) {
		const struct mimalloc_range *range = &m->free.items[i];

		page_use_add(m->blocks, range->start_addr, range->end_addr, USE_FREE);
		sum->count++;
		sum->bytes += range->end_addr - range->start_addr;
		sum->resident_bytes += image_resident_bytes(m->image, range->start_addr,
							    range->end_addr);
	}
}

/*
 * Add mimalloc's own data as blocks. Pointers in these blocks do not make other
 * blocks reachable.
 */
static void account_own(struct mimalloc *m)
{
	for (size_t i = 0; i < m->own.count; i++) {
		const struct mimalloc_range *range = &m->own.items[i];
		struct extent *extent = blocks_add_extent(m->blocks);

		extent->kind = EXTENT_UNITS;
		extent->start_addr = range->start_addr;
		extent->end_addr = range->end_addr;
		extent->unit_bytes = range->end_addr - range->start_addr;
		extent->first_bit = m->bit_count + i;
		bit_set(m->blocks->not_live, extent->first_bit);
		bit_set(m->blocks->own, extent->first_bit);
	}
	for (size_t i = 0; i < m->page_count; i++) {
		uint64_t addr = m->pages[i].heap_addr;

		if (addr != 0 && (i == 0 || addr != m->pages[i - 1].heap_addr))
			blocks_add_own_range(m->blocks, addr, addr + HEAP_BYTES);
	}
}

/* Set heap->version to the range of mimalloc versions that share the detected layout. */
static void set_version(struct mimalloc *m)
{
	snprintf(m->heap->version, sizeof(m->heap->version), "%s",
		 m->layout ? m->layout->versions : m->map_layout->versions);
}

/* Return true if the start of a segment of mimalloc 2 may be swapped out. */
static bool may_lack_segment(const struct mimalloc *m)
{
	uint64_t addr = 0;

	if (!m->layout)
		return false;
	while ((addr = walk_next_swapped(m->input, addr, MIMALLOC_SEGMENT_BYTES,
					 false)) != UINT64_MAX) {
		size_t i = SEARCH_FIRST(m->claimed.count, k,
					m->claimed.items[k].end_addr > addr);

		if (i == m->claimed.count || m->claimed.items[i].start_addr > addr)
			return true;
		addr = m->claimed.items[i].end_addr;
	}
	return false;
}

/*
 * Return a text that names the parts of the heap that are not counted because memory is
 * swapped out, or NULL if all parts are counted.
 */
static const char *find_missing(const struct mimalloc *m)
{
	if (m->absent_pages > 0)
		return "pages of mimalloc are swapped out, and their blocks are not "
		       "counted";
	if (m->may_lack_tables)
		return "tables of mimalloc may be swapped out: blocks and free memory may "
		       "be missing";
	return may_lack_segment(m) ? "memory is swapped out that may contain segments of "
				     "mimalloc"
				   : NULL;
}

static void set_quality(struct mimalloc *m)
{
	struct heap *heap = m->heap;

	heap->quality = QUALITY_EXACT;
	if (m->broken_segments + m->broken_pages + m->broken_lists > 0)
		heap->problem = "mimalloc was changing a list, or a list is corrupt";
	if (m->input->is_running && !heap->problem)
		heap->problem = "the process ran while its heap was read";
	if (heap->problem)
		heap->quality = QUALITY_ESTIMATE;
	else if ((heap->problem = find_missing(m)))
		heap->quality = QUALITY_BOUND;
}

void mimalloc_account(struct mimalloc *m)
{
	struct heap *heap = m->heap;
	struct heap_arena *arena;

	heap->arenas = arena = xcalloc(1, sizeof(*heap->arenas));
	heap->arena_count = 1;
	fill_classes(heap);
	for (size_t i = 0; i < m->claimed.count; i++) {
		const struct mimalloc_range *range = &m->claimed.items[i];

		page_use_add(m->blocks, range->start_addr, range->end_addr, USE_HEAP);
		arena->system_bytes += range->end_addr - range->start_addr;
		arena->heap_count++;
	}
	for (size_t i = 0; i < m->page_count; i++)
		account_page(m, &m->pages[i]);
	account_free(m);
	account_own(m);
	blocks_sort(m->blocks);
	page_use_share(m->blocks, m->input->mappings, heap);
	/* the result of mi_collect() depends on the version and on the calling thread */
	arena->trimmable_bytes = heap->trimmable_bytes = BYTES_UNKNOWN;
	set_version(m);
	set_quality(m);
}
