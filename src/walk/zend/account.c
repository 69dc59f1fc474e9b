/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/zend/walk.h"

#include "base/xalloc.h"
#include "walk/blocks/page_use.h"

/* Indices in the array `spaces` of struct heap. */
enum {
	SPACE_CHUNKS,
	SPACE_SMALL,
	SPACE_LARGE,
	SPACE_HUGE,
	SPACE_FREE,
	SPACE_CACHED,
	SPACE_COUNT_
};

static const char *const space_names[SPACE_COUNT_] = {
	[SPACE_CHUNKS] = "chunks",
	[SPACE_SMALL] = "runs of small blocks",
	[SPACE_LARGE] = "runs of single blocks",
	[SPACE_HUGE] = "huge blocks",
	[SPACE_FREE] = "free pages",
	[SPACE_CACHED] = "cached chunks",
};

static uint64_t block_bytes(const struct zend_run *run)
{
	return run->bin == ZEND_LARGE ? run->page_count * ZEND_PAGE_BYTES
				      : zend_bin_bytes(run->bin);
}

static void add_extent(struct zend *z, const struct zend_run *run)
{
	struct extent *extent = blocks_add_extent(z->blocks);

	extent->kind = EXTENT_UNITS;
	extent->start_addr = run->addr;
	extent->unit_bytes = block_bytes(run);
	extent->end_addr = run->addr + zend_block_count(run) * extent->unit_bytes;
	extent->first_bit = run->first_bit;
}

static void account_pages(struct zend *z, const struct zend_run *run)
{
	uint64_t bytes = block_bytes(run), count = zend_block_count(run);

	page_use_add(z->blocks, run->addr, run->addr + run->page_count * ZEND_PAGE_BYTES,
		     USE_HEAP);
	for (uint64_t i = 0, next; i < count; i = next) {
		bool is_free = bit_is_set(z->blocks->not_live, run->first_bit + i);

		for (next = i + 1;
		     next < count &&
		     bit_is_set(z->blocks->not_live, run->first_bit + next) == is_free;
		     next++)
			;
		page_use_add(z->blocks, run->addr + i * bytes, run->addr + next * bytes,
			     is_free ? USE_FREE : USE_LIVE);
	}
}

static void account_run(struct zend *z, const struct zend_run *run)
{
	struct heap_space *space =
		&z->heap->spaces[run->is_huge		  ? SPACE_HUGE
				 : run->bin == ZEND_LARGE ? SPACE_LARGE
							  : SPACE_SMALL];
	struct heap_arena *sums = &z->heap->arenas[0];
	uint64_t bytes = block_bytes(run);
	uint64_t live_count = zend_block_count(run) - run->free_count;
	uint64_t end_addr = run->addr + run->page_count * ZEND_PAGE_BYTES;

	account_pages(z, run);
	add_extent(z, run);
	if (run->bin < ZEND_BINS) {
		struct heap_class *class = &z->heap->classes[run->bin];

		class->live.count += live_count;
		class->live.bytes += live_count * bytes;
		class->free.count += run->free_count;
		class->free.bytes += run->free_count * bytes;
	}
	sums->live.count += live_count;
	sums->live.bytes += live_count * bytes;
	sums->bin.count += run->free_count;
	sums->bin.bytes += run->free_count * bytes;
	space->count++;
	space->live_bytes += live_count * bytes;
	space->free_bytes += run->free_count * bytes;
	space->resident_bytes += image_resident_bytes(z->image, run->addr, end_addr);
}

static void account_free(struct zend *z, unsigned int index, uint64_t start_addr,
			 uint64_t end_addr, uint64_t unit_bytes)
{
	struct heap_space *space = &z->heap->spaces[index];

	page_use_add(z->blocks, start_addr, end_addr, USE_HEAP);
	page_use_add(z->blocks, start_addr, end_addr, USE_FREE);
	space->count += (end_addr - start_addr) / unit_bytes;
	space->free_bytes += end_addr - start_addr;
	space->resident_bytes += image_resident_bytes(z->image, start_addr, end_addr);
}

/* Count a chunk's first page and its free pages: the memory between the chunk's runs. */
static void account_chunk(struct zend *z, const struct zend_chunk *chunk, size_t *next)
{
	uint64_t end_addr = chunk->addr + ZEND_CHUNK_BYTES;
	uint64_t done_addr = chunk->addr + ZEND_PAGE_BYTES;
	struct heap_space *space = &z->heap->spaces[SPACE_CHUNKS];

	if (chunk->is_cached) {
		account_free(z, SPACE_CACHED, chunk->addr, end_addr, ZEND_CHUNK_BYTES);
		return;
	}
	page_use_add(z->blocks, chunk->addr, done_addr, USE_HEAP);
	space->count++;
	space->resident_bytes += image_resident_bytes(z->image, chunk->addr, end_addr);
	while (*next < z->run_count && z->runs[*next].addr < chunk->addr)
		(*next)++;
	for (; *next < z->run_count && z->runs[*next].addr < end_addr; (*next)++) {
		const struct zend_run *run = &z->runs[*next];

		account_free(z, SPACE_FREE, done_addr, run->addr, ZEND_PAGE_BYTES);
		done_addr = run->addr + run->page_count * ZEND_PAGE_BYTES;
		if (zend_is_counted(z, run))
			space->live_bytes += (zend_block_count(run) - run->free_count) *
					     block_bytes(run);
	}
	account_free(z, SPACE_FREE, done_addr, end_addr, ZEND_PAGE_BYTES);
}

static void fill_classes(struct heap *heap)
{
	heap->class_count = ZEND_BINS;
	for (unsigned int i = 0; i < ZEND_BINS; i++) {
		heap->classes[i].lower_bytes = i ? zend_bin_bytes(i - 1) + 1 : 1;
		heap->classes[i].upper_bytes = zend_bin_bytes(i);
	}
}

/*
 * Return a text that explains how swapped-out structures affect the figures, or NULL if
 * no structure is swapped out.
 */
static const char *find_missing(const struct zend *z)
{
	bool has_cut_list = false;

	for (size_t i = 0; i < z->heap_count; i++)
		has_cut_list |= z->heaps[i].cut_bins != 0;
	if (z->lacks_chunks && has_cut_list)
		return "chunks and free lists of PHP are swapped out, and blocks that "
		       "depend on them are not counted";
	if (z->lacks_chunks)
		return "chunks or huge blocks of PHP are swapped out and not counted";
	return has_cut_list ? "free lists of PHP are swapped out, and their blocks count "
			      "as live"
			    : NULL;
}

static void set_quality(struct zend *z)
{
	struct heap *heap = z->heap;

	heap->quality = QUALITY_EXACT;
	for (size_t i = 0; i < z->heap_count; i++)
		if (z->heaps[i].is_broken)
			heap->problem =
				"PHP was changing its heap, or a structure is corrupt";
	if (z->input->is_running && !heap->problem)
		heap->problem = "the process ran while its heap was read";
	if (heap->problem)
		heap->quality = QUALITY_ESTIMATE;
	else if ((heap->problem = find_missing(z)))
		heap->quality = QUALITY_BOUND;
	heap->trimmable_bytes = heap->arenas[0].trimmable_bytes = zend_trimmable(z);
}

void zend_account(struct zend *z)
{
	struct heap *heap = z->heap;
	size_t next = 0;

	heap->arenas = xcalloc(1, sizeof(*heap->arenas));
	heap->arena_count = 1;
	fill_classes(heap);
	for (size_t i = 0; i < SPACE_COUNT_; i++)
		heap_add_space(heap, space_names[i]);
	for (size_t i = 0; i < z->run_count; i++)
		if (zend_is_counted(z, &z->runs[i]))
			account_run(z, &z->runs[i]);
	for (size_t i = 0; i < z->chunk_count; i++)
		account_chunk(z, &z->chunks[i], &next);
	for (size_t i = 0; i < z->heap_count; i++)
		if (!z->heaps[i].is_broken)
			heap->arenas[0].system_bytes += z->heaps[i].found_bytes;
	blocks_sort(z->blocks);
	page_use_share(z->blocks, z->input->mappings, heap);
	set_quality(z);
}
