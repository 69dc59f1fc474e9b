/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/zend/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/xalloc.h"

/* Kinds of elements of map[]. */
#define MAP_LARGE UINT32_C(0x40000000)
#define MAP_SMALL UINT32_C(0x80000000)
#define MAP_KIND (MAP_LARGE | MAP_SMALL)
#define MAP_LARGE_PAGES UINT32_C(0x3ff)
#define MAP_SMALL_BIN UINT32_C(0x1f)

/* offset of the block's size in an element of the list of huge blocks */
#define HUGE_SIZE 8
#define HUGE_NEXT 16 /* offset */

/*
 * Constant part of the upper bound on the number of blocks in all runs: one for each 4
 * bytes of the copy, plus this constant. A run may have more blocks than resident memory,
 * because some of its pages may never have been touched.
 */
#define BLOCKS_MIN (UINT64_C(4) << 20)

static bool is_bit_set(const uint8_t *bitmap, uint64_t page)
{
	return bitmap[page / 8] >> page % 8 & 1;
}

static void add_run(struct zend *z, const struct zend_run *run)
{
	z->runs = xgrow(z->runs, &z->run_capacity, z->run_count + 1, sizeof(*z->runs));
	z->runs[z->run_count++] = *run;
}

/*
 * Set *ret to the run that begins on a page of a chunk in use. Return false if the map's
 * element is invalid, or if a page of the run is not in use.
 */
static bool read_run(const uint8_t *bitmap, uint64_t page, struct zend_run *ret)
{
	uint32_t element;

	memcpy(&element, bitmap + ZEND_BITMAP_BYTES + 4 * page, sizeof(element));
	if ((element & MAP_KIND) == MAP_LARGE) {
		ret->bin = ZEND_LARGE;
		ret->page_count = element & MAP_LARGE_PAGES;
	} else if ((element & MAP_KIND) == MAP_SMALL &&
		   (element & MAP_SMALL_BIN) < ZEND_BINS) {
		ret->bin = (uint8_t)(element & MAP_SMALL_BIN);
		ret->page_count = zend_bin_pages(ret->bin);
	} else {
		return false;
	}
	if (ret->page_count == 0 || page + ret->page_count > ZEND_PAGES)
		return false;
	for (uint64_t i = 0; i < ret->page_count; i++)
		if (!is_bit_set(bitmap, page + i))
			return false;
	return true;
}

/* Add the runs of a chunk. Return false if the chunk fails a check. */
static bool read_chunk(struct zend *z, const struct zend_chunk *chunk)
{
	const uint8_t *page = image_at(z->image, chunk->addr, ZEND_PAGE_BYTES);
	const uint8_t *bitmap;
	uint32_t free_pages, free_count = 0;

	if (!page)
		return false;
	bitmap = page + z->heaps[chunk->heap].bitmap_offset;
	memcpy(&free_pages, page + ZEND_CHUNK_FREE_PAGES, sizeof(free_pages));
	/* page 0 contains the description of the chunk */
	for (uint64_t i = 1; i < ZEND_PAGES;) {
		struct zend_run run = { .addr = chunk->addr + i * ZEND_PAGE_BYTES,
					.heap = chunk->heap };

		if (!is_bit_set(bitmap, i)) {
			free_count++;
			i++;
			continue;
		}
		if (!read_run(bitmap, i, &run))
			return false;
		add_run(z, &run);
		i += run.page_count;
	}
	return free_count == free_pages && is_bit_set(bitmap, 0);
}

static void add_chunk(struct zend *z, uint64_t addr, uint32_t heap, bool is_cached)
{
	z->chunks = xgrow(z->chunks, &z->chunk_capacity, z->chunk_count + 1,
			  sizeof(*z->chunks));
	z->chunks[z->chunk_count++] = (struct zend_chunk){ addr, heap, is_cached };
	z->heaps[heap].found_bytes += ZEND_CHUNK_BYTES;
}

/*
 * A heap cannot have more chunks than the copy has pages, because page 0 of each chunk is
 * resident.
 */
static bool has_room(const struct zend *z)
{
	return z->chunk_count < z->image->length_bytes / IMAGE_PAGE_BYTES;
}

/*
 * List the chunks in the ring of a heap, and their runs, starting with the chunk at
 * *addr. `last` is the address of the chunk that precedes it in the direction of the
 * walk. Stop at the main chunk or at a chunk that is swapped out, and set *addr to the
 * address of that chunk. Return false if a chunk fails a check.
 */
static bool follow_ring(struct zend *z, uint32_t heap, bool is_backward, uint64_t last,
			uint64_t *addr)
{
	const uint64_t ahead = is_backward ? ZEND_CHUNK_PREV : ZEND_CHUNK_NEXT;
	const uint64_t behind = is_backward ? ZEND_CHUNK_NEXT : ZEND_CHUNK_PREV;
	uint64_t main_addr = z->heaps[heap].addr, owner, before;

	do {
		if (*addr % ZEND_CHUNK_BYTES != 0 || !has_room(z))
			return false;
		if (walk_is_swapped(z->input, *addr))
			return true;
		if (!image_read(z->image, *addr, &owner) ||
		    owner != main_addr + ZEND_CHUNK_HEAP_SLOT ||
		    !image_read(z->image, *addr + behind, &before) || before != last)
			return false;
		add_chunk(z, *addr, heap, false);
		if (!read_chunk(z, &z->chunks[z->chunk_count - 1]))
			return false;
		last = *addr;
		if (!image_read(z->image, last + ahead, addr))
			return false;
	} while (*addr != main_addr);
	return true;
}

/*
 * List the chunks in the ring of a heap. If a chunk is swapped out, follow the ring in
 * the other direction, too. The chunks between two that are swapped out are not found.
 */
static bool read_ring(struct zend *z, uint32_t heap)
{
	uint64_t main_addr = z->heaps[heap].addr, addr = main_addr, last;

	if (!image_read(z->image, main_addr + ZEND_CHUNK_PREV, &last) ||
	    !follow_ring(z, heap, false, last, &addr))
		return false;
	if (addr == main_addr)
		return true;
	z->heaps[heap].lacks_chunks = true;
	return follow_ring(z, heap, true, main_addr, &last);
}

static bool read_cached(struct zend *z, uint32_t heap)
{
	uint64_t addr = z->heaps[heap].cached_addr;

	while (addr != 0) {
		if (addr % ZEND_CHUNK_BYTES != 0 || !has_room(z))
			return false;
		if (walk_is_swapped(z->input, addr)) {
			z->heaps[heap].lacks_chunks = true;
			return true;
		}
		add_chunk(z, addr, heap, true);
		if (!image_read(z->image, addr + ZEND_CHUNK_NEXT, &addr))
			return false;
	}
	return true;
}

static bool read_huge(struct zend *z, uint32_t heap)
{
	uint64_t at = z->heaps[heap].huge_list_addr, bytes;
	uint64_t mark = 0, length = 0;

	while (at != 0) {
		struct zend_run run = { .heap = heap,
					.bin = ZEND_LARGE,
					.is_huge = true };

		/* a marked element is reached again only if the list is circular */
		if (at == mark)
			return false;
		if ((length & (length + 1)) == 0)
			mark = at;
		length++;
		if (walk_is_swapped(z->input, at)) {
			z->heaps[heap].lacks_chunks = true;
			return true;
		}
		if (at >= UINT64_C(1) << WALK_ADDR_BITS ||
		    !image_read(z->image, at, &run.addr) ||
		    !image_read(z->image, at + HUGE_SIZE, &bytes) ||
		    !image_read(z->image, at + HUGE_NEXT, &at) ||
		    bytes < ZEND_CHUNK_BYTES || run.addr == 0 ||
		    run.addr % ZEND_CHUNK_BYTES != 0 || bytes % ZEND_PAGE_BYTES != 0 ||
		    bytes >= UINT64_C(1) << WALK_ADDR_BITS ||
		    run.addr >= UINT64_C(1) << WALK_ADDR_BITS)
			return false;
		run.page_count = bytes / ZEND_PAGE_BYTES;
		z->heaps[heap].found_bytes += bytes;
		add_run(z, &run);
	}
	return true;
}

static int compare_runs(const void *a, const void *b)
{
	const struct zend_run *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static int compare_chunks(const void *a, const void *b)
{
	const struct zend_chunk *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Remove all chunks and runs of broken heaps. */
static void drop_broken(struct zend *z)
{
	size_t kept = 0;

	for (size_t i = 0; i < z->chunk_count; i++)
		if (!z->heaps[z->chunks[i].heap].is_broken)
			z->chunks[kept++] = z->chunks[i];
	z->chunk_count = kept;
	kept = 0;
	for (size_t i = 0; i < z->run_count; i++)
		if (!z->heaps[z->runs[i].heap].is_broken)
			z->runs[kept++] = z->runs[i];
	z->run_count = kept;
}

/* If a huge block overlaps a chunk, their heaps are broken. */
static void check_huge(struct zend *z, const struct zend_run *run)
{
	size_t i = SEARCH_FIRST(z->chunk_count, k, z->chunks[k].addr >= run->addr);

	if (run->is_huge && i < z->chunk_count &&
	    z->chunks[i].addr - run->addr < run->page_count * ZEND_PAGE_BYTES)
		z->heaps[run->heap].is_broken = z->heaps[z->chunks[i].heap].is_broken =
			true;
}

/* Heaps whose chunks or runs overlap are broken. */
static void check_places(struct zend *z)
{
	if (z->run_count > 0)
		qsort(z->runs, z->run_count, sizeof(*z->runs), compare_runs);
	if (z->chunk_count > 0)
		qsort(z->chunks, z->chunk_count, sizeof(*z->chunks), compare_chunks);
	for (size_t i = 1; i < z->run_count; i++) {
		const struct zend_run *before = &z->runs[i - 1], *run = &z->runs[i];

		if (run->addr - before->addr < before->page_count * ZEND_PAGE_BYTES)
			z->heaps[run->heap].is_broken = z->heaps[before->heap].is_broken =
				true;
	}
	for (size_t i = 0; i < z->run_count; i++)
		check_huge(z, &z->runs[i]);
	for (size_t i = 1; i < z->chunk_count; i++)
		if (z->chunks[i].addr == z->chunks[i - 1].addr)
			z->heaps[z->chunks[i].heap].is_broken =
				z->heaps[z->chunks[i - 1].heap].is_broken = true;
}

/*
 * Return true if the word at addr may be real_size instead of an element of free_slot[].
 * If chunks are missing, real_size must be larger than the total size of the chunks and
 * huge blocks that were found, and at most real_peak, which is the next word.
 */
static bool is_real_size(struct zend *z, const struct zend_heap *heap, uint64_t addr)
{
	uint64_t value, peak;

	if (!image_read(z->image, addr, &value) || !image_read(z->image, addr + 8, &peak))
		return false;
	if (!heap->lacks_chunks)
		return value == heap->found_bytes;
	return value > heap->found_bytes && value <= peak &&
	       (value | peak) % ZEND_PAGE_BYTES == 0;
}

/*
 * Find real_size, whose value is the total size of the chunks and the huge blocks. Set
 * slots_addr to the address of free_slot[], which precedes real_size.
 */
static bool find_slots(struct zend *z, struct zend_heap *heap)
{
	for (uint64_t i = ZEND_REAL_SIZE; i <= ZEND_REAL_SIZE + 1; i++) {
		uint64_t addr = heap->addr + ZEND_CHUNK_HEAP_SLOT + 8 * i;

		if (!is_real_size(z, heap, addr))
			continue;
		heap->slots_addr = addr - 8 * ZEND_BINS;
		return true;
	}
	return false;
}

const char *zend_read_runs(struct zend *z)
{
	uint64_t max = z->image->length_bytes / 4 + BLOCKS_MIN;

	for (uint32_t i = 0; i < z->heap_count; i++) {
		struct zend_heap *heap = &z->heaps[i];

		if (!read_ring(z, i) || !read_cached(z, i) || !read_huge(z, i) ||
		    !find_slots(z, heap))
			heap->is_broken = true;
		z->lacks_chunks |= heap->lacks_chunks;
	}
	check_places(z);
	drop_broken(z);
	for (size_t i = 0; i < z->run_count; i++) {
		uint64_t count = zend_block_count(&z->runs[i]);

		if (z->bit_count + count > max) {
			z->heaps[z->runs[i].heap].is_broken = true;
			continue;
		}
		z->runs[i].first_bit = z->bit_count;
		z->bit_count += count;
	}
	drop_broken(z);
	return z->chunk_count > 0
		       ? NULL
		       : "PHP was changing its list of chunks, or a chunk is corrupt";
}
