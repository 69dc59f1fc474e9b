/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/zend/walk.h"

#include "base/search.h"
#include "base/units.h"

/* Source: zend_mm_delete_chunk() in Zend/zend_alloc.c. */
#define AVERAGE_EXCESS 0.1
#define DELETIONS_MAX 4

/* Return true if no block of the chunk is allocated. */
static bool is_empty(const struct zend *z, const struct zend_chunk *chunk)
{
	size_t i = SEARCH_FIRST(z->run_count, k, z->runs[k].addr >= chunk->addr);

	for (; i < z->run_count && z->runs[i].addr < chunk->addr + ZEND_CHUNK_BYTES; i++)
		if (z->runs[i].free_count != zend_block_count(&z->runs[i]))
			return false;
	return true;
}

/*
 * Return true if PHP would keep an empty chunk for later. Otherwise, count the deletion
 * of the chunk, because PHP would unmap it.
 */
static bool is_kept(struct zend_counters *c)
{
	c->chunk_count--;
	if (c->chunk_count < c->average_count + AVERAGE_EXCESS ||
	    (c->chunk_count == c->boundary && c->deletion_count >= DELETIONS_MAX))
		return true;
	if (c->chunk_count != c->boundary) {
		c->boundary = c->chunk_count;
		c->deletion_count = 0;
	} else {
		c->deletion_count++;
	}
	return false;
}

uint64_t zend_trimmable(struct zend *z)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < z->chunk_count; i++) {
		const struct zend_chunk *chunk = &z->chunks[i];
		struct zend_heap *heap = &z->heaps[chunk->heap];

		/*
		 * if PHP already keeps unused chunks, the order of the chunks determines
		 * which chunks it unmaps; if memory is swapped out, the empty chunks
		 * cannot be determined
		 */
		if (heap->is_broken || heap->lacks_chunks || heap->cut_bins != 0 ||
		    chunk->is_cached || heap->counters.kept_count != 0)
			return BYTES_UNKNOWN;
		if (chunk->addr == heap->addr || !is_empty(z, chunk))
			continue;
		if (is_kept(&heap->counters))
			return BYTES_UNKNOWN;
		sum += image_resident_bytes(z->image, chunk->addr,
					    chunk->addr + ZEND_CHUNK_BYTES);
	}
	return sum;
}
