/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/oldmalloc/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/xalloc.h"
#include "walk/blocks/page_use.h"

/*
 * Return the chunk's bit in the bit tables of struct blocks. The chunk's head, at addr,
 * must be resident.
 */
static uint64_t chunk_bit(const struct oldmalloc *m, uint64_t addr)
{
	const struct image_run *run = image_run_at(m->image, addr);

	return (run->offset_bytes + (addr - run->start_addr)) / BLOCK_ALIGN;
}

static void account_chunk(struct oldmalloc *m, uint64_t addr, uint64_t size)
{
	struct heap_arena *arena = &m->heap->arenas[0];
	uint64_t bytes = size & ~OLDMALLOC_IN_USE, bit = chunk_bit(m, addr);
	struct heap_class *class = &m->heap->classes[heap_class_index(bytes)];
	bool is_free = !(size & OLDMALLOC_IN_USE);

	bit_set(m->blocks->starts, bit);
	chunk_sum_add(is_free ? &arena->bin : &arena->live, bytes);
	chunk_sum_add(is_free ? &class->free : &class->live, bytes);
	page_use_add(m->blocks, addr, addr + bytes, is_free ? USE_FREE : USE_LIVE);
	if (is_free) {
		bit_set(m->blocks->not_live, bit);
		m->free_count++;
	}
}

static void account_region(struct oldmalloc *m, const struct oldmalloc_region *region)
{
	struct heap_arena *arena = &m->heap->arenas[0];
	struct extent *extent = blocks_add_extent(m->blocks);
	uint64_t addr = region->first_addr, size;

	while (addr < region->last_addr &&
	       image_read(m->image, addr + OLDMALLOC_SIZE, &size)) {
		account_chunk(m, addr, size);
		addr += size & ~OLDMALLOC_IN_USE;
	}
	extent->kind = EXTENT_CHAIN;
	extent->start_addr = region->first_addr;
	extent->end_addr = region->last_addr;
	arena->system_bytes += region->end_addr - region->start_addr;
	arena->heap_count++;
}

static void account_mapped(struct oldmalloc *m, const struct oldmalloc_region *region)
{
	uint64_t bytes = region->end_addr - region->start_addr;
	struct extent *extent = blocks_add_extent(m->blocks);

	page_use_add(m->blocks, region->first_addr, region->end_addr, USE_LIVE);
	chunk_sum_add(&m->heap->mapped, bytes);
	chunk_sum_add(&m->heap->classes[heap_class_index(bytes)].live, bytes);
	extent->kind = EXTENT_UNITS;
	extent->start_addr = region->first_addr;
	extent->end_addr = region->end_addr;
	extent->unit_bytes = region->end_addr - region->first_addr;
	extent->first_bit = chunk_bit(m, region->first_addr);
	extent->is_mapped = true;
}

/*
 * Count the chunks of a ring that are free chunks of a region and were not counted
 * before. `seen` has a bit for each chunk. Return false if the ring contains any
 * other chunk.
 */
static bool count_ring(struct oldmalloc *m, unsigned int bin, uint64_t *seen)
{
	uint64_t self = oldmalloc_bin_chunk(m, bin), addr;

	if (!image_read(m->image, self + OLDMALLOC_NEXT, &addr))
		return false;
	while (addr != self && addr != 0) {
		uint64_t next, bit;

		if (addr % BLOCK_ALIGN != 0 || !image_run_at(m->image, addr))
			return false;
		bit = chunk_bit(m, addr);
		if (!bit_is_set(m->blocks->starts, bit) ||
		    !bit_is_set(m->blocks->not_live, bit) || bit_is_set(seen, bit) ||
		    !image_read(m->image, addr + OLDMALLOC_NEXT, &next))
			return false;
		bit_set(seen, bit);
		m->bin_count++;
		addr = next;
	}
	return true;
}

static void check_bins(struct oldmalloc *m)
{
	uint64_t *seen = xcalloc(m->blocks->bit_count / 64 + 1, sizeof(*seen));

	for (unsigned int i = 0; i < OLDMALLOC_BINS; i++)
		m->broken_count += !count_ring(m, i, seen);
	free(seen);
}

/*
 * Return true if a region or a block with its own mapping may be missing, because its
 * first page is swapped out.
 */
static bool may_lack_region(const struct oldmalloc *m)
{
	uint64_t addr = walk_next_swapped(m->input, 0, IMAGE_PAGE_BYTES, true);

	for (size_t i = 0; i < m->region_count && addr != UINT64_MAX; i++)
		if (m->regions[i].start_addr <= addr && addr < m->regions[i].end_addr)
			addr = walk_next_swapped(m->input, m->regions[i].end_addr,
						 IMAGE_PAGE_BYTES, true);
	return addr != UINT64_MAX;
}

static void set_quality(struct oldmalloc *m)
{
	struct heap *heap = m->heap;

	heap->quality = QUALITY_EXACT;
	if (m->broken_count > 0)
		heap->problem = "musl was changing a chunk, or a chunk is corrupt";
	else if (m->free_count != m->bin_count)
		heap->problem = "musl's lists contain free chunks other than those found";
	if (m->input->is_running && !heap->problem)
		heap->problem = "the process ran while its heap was read";
	if (heap->problem)
		heap->quality = QUALITY_ESTIMATE;
	if (heap->quality == QUALITY_EXACT && may_lack_region(m)) {
		heap->quality = QUALITY_BOUND;
		heap->problem = "memory is swapped out that may contain blocks of musl";
	}
	/* musl has no function like malloc_trim(), so nothing can be trimmed */
	heap->trimmable_bytes = heap->arenas[0].trimmable_bytes = 0;
}

void oldmalloc_account(struct oldmalloc *m)
{
	struct heap *heap = m->heap;

	heap->arenas = xcalloc(1, sizeof(*heap->arenas));
	heap->arena_count = 1;
	blocks_init(m->blocks, m->image, m->image->length_bytes / BLOCK_ALIGN);
	m->blocks->head_bytes = OLDMALLOC_HEAD_BYTES;
	m->blocks->chain_end_bytes = OLDMALLOC_HEAD_BYTES - 8;
	for (size_t i = 0; i < m->region_count; i++) {
		const struct oldmalloc_region *region = &m->regions[i];

		page_use_add(m->blocks, region->start_addr, region->end_addr, USE_HEAP);
		if (region->is_mapped)
			account_mapped(m, region);
		else
			account_region(m, region);
	}
	check_bins(m);
	blocks_sort(m->blocks);
	blocks_add_own_range(m->blocks, m->bins_addr - 8,
			     m->bins_addr + OLDMALLOC_BINS * OLDMALLOC_BIN_BYTES);
	page_use_share(m->blocks, m->input->mappings, heap);
	set_quality(m);
}
