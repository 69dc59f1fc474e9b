/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/zend/walk.h"

#include "base/search.h"

/* Return the run of a heap that contains the address, or NULL. */
static struct zend_run *find_run(struct zend *z, uint32_t heap, uint64_t addr)
{
	size_t i = SEARCH_FIRST(z->run_count, k, z->runs[k].addr > addr);
	struct zend_run *run = i > 0 ? &z->runs[i - 1] : NULL;

	if (!run || run->heap != heap ||
	    addr - run->addr >= run->page_count * ZEND_PAGE_BYTES)
		return NULL;
	return run;
}

/*
 * Return true if the address may be in a chunk that was not found, because the chunk or a
 * neighbour in the ring is swapped out.
 */
static bool is_in_missing_chunk(struct zend *z, const struct zend_heap *heap,
				uint64_t addr)
{
	uint64_t chunk = addr & ~(ZEND_CHUNK_BYTES - 1), owner;
	size_t i = SEARCH_FIRST(z->chunk_count, k, z->chunks[k].addr >= chunk);

	if (!heap->lacks_chunks || (i < z->chunk_count && z->chunks[i].addr == chunk))
		return false;
	return walk_is_swapped(z->input, chunk) ||
	       (image_read(z->image, chunk, &owner) &&
		owner == heap->addr + ZEND_CHUNK_HEAP_SLOT);
}

/*
 * Mark a block in the free list of a bin. Return false if it is not a block of the bin,
 * or if it is already marked.
 */
static bool mark_block(struct zend *z, uint32_t heap, unsigned int bin, uint64_t addr)
{
	uint64_t bytes = zend_bin_bytes(bin);
	struct zend_run *run = find_run(z, heap, addr);
	uint64_t index = run ? (addr - run->addr) / bytes : 0;

	if (!run)
		return is_in_missing_chunk(z, &z->heaps[heap], addr);
	if (run->bin != bin || (addr - run->addr) % bytes != 0 ||
	    index >= zend_block_count(run) ||
	    bit_is_set(z->blocks->not_live, run->first_bit + index))
		return false;
	bit_set(z->blocks->not_live, run->first_bit + index);
	run->free_count++;
	return true;
}

/*
 * Mark the blocks in the free list of a bin. Return false if a check fails. If the list
 * continues in swapped-out memory, only the part before that memory is read.
 */
static bool read_list(struct zend *z, uint32_t heap, unsigned int bin)
{
	uint64_t at, next, mark = 0, length = 0;

	if (!image_read(z->image, z->heaps[heap].slots_addr + 8 * bin, &at))
		return false;
	while (at != 0) {
		/*
		 * blocks of missing chunks are not marked, so mark_block() does not
		 * detect a cycle of such blocks
		 */
		if (at == mark || !mark_block(z, heap, bin, at))
			return false;
		if ((length & (length + 1)) == 0)
			mark = at;
		length++;
		if (!image_read(z->image, at, &next)) {
			if (!walk_is_swapped(z->input, at))
				return false;
			z->heaps[heap].cut_bins |= UINT32_C(1) << bin;
			return true;
		}
		at = next;
	}
	return true;
}

/*
 * Return true if the live bytes agree with memory_get_usage(). They are an upper bound if
 * a free list is partly swapped out, and a lower bound if chunks are missing or runs are
 * not counted.
 */
static bool is_sum_sound(const struct zend *z, const struct zend_heap *heap)
{
	if (heap->lacks_chunks || (z->lacks_chunks && heap->cut_bins != 0))
		return heap->live_bytes <= heap->size_bytes;
	if (heap->cut_bins != 0)
		return heap->live_bytes >= heap->size_bytes;
	return heap->live_bytes == heap->size_bytes;
}

void zend_read_free(struct zend *z)
{
	for (uint32_t i = 0; i < z->heap_count; i++)
		for (unsigned int bin = 0; bin < ZEND_BINS; bin++)
			if (!z->heaps[i].is_broken && !read_list(z, i, bin))
				z->heaps[i].is_broken = true;
	for (size_t i = 0; i < z->run_count; i++) {
		const struct zend_run *run = &z->runs[i];
		uint64_t live = zend_block_count(run) - run->free_count;

		if (!zend_is_counted(z, run))
			continue;
		z->heaps[run->heap].live_bytes +=
			live * (run->bin == ZEND_LARGE ? run->page_count * ZEND_PAGE_BYTES
						       : zend_bin_bytes(run->bin));
	}
	for (size_t i = 0; i < z->heap_count; i++)
		if (!is_sum_sound(z, &z->heaps[i]))
			z->heaps[i].is_broken = true;
}
