/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/zend/walk.h"

#include <string.h>

#include "base/xalloc.h"

/*
 * Indices of members among the words of struct _zend_mm_heap. The members real_peak,
 * limit and overflow follow real_size; some builds have further members after them.
 */
#define SIZE UINT64_C(2)
#define MAIN_CHUNK_MIN (ZEND_REAL_SIZE + 5)
#define MAIN_CHUNK_MAX (ZEND_REAL_SIZE + 16)

/* Indices of members of struct _zend_mm_heap, relative to the index of main_chunk. */
#define CHUNKS_COUNT 2
#define CACHED_COUNT 3
#define AVERAGE_COUNT 4
#define LAST_BOUNDARY 5
#define LAST_MEMBER 4 /* the last of these members that exists in all versions */

/*
 * Return the offset of free_map in a chunk, or 0. The struct of the heap, whose length
 * differs between versions, precedes free_map.
 */
static uint64_t find_bitmap(const uint8_t *page, uint64_t from)
{
	uint32_t free_pages, first;

	memcpy(&free_pages, page + ZEND_CHUNK_FREE_PAGES, sizeof(free_pages));
	for (uint64_t at = from;
	     at + ZEND_BITMAP_BYTES + 4 * ZEND_PAGES <= ZEND_PAGE_BYTES; at += 8) {
		uint64_t words[ZEND_BITMAP_BYTES / 8];
		uint32_t used = 0;

		memcpy(&first, page + at + ZEND_BITMAP_BYTES, sizeof(first));
		if (first != ZEND_MAP_FIRST)
			continue;
		memcpy(words, page + at, sizeof(words));
		for (size_t i = 0; i < ZEND_BITMAP_BYTES / 8; i++)
			used += (uint32_t)__builtin_popcountll(words[i]);
		if (words[0] & 1 && used <= ZEND_PAGES && free_pages == ZEND_PAGES - used)
			return at;
	}
	return 0;
}

enum ring_state {
	RING_NONE,
	RING_COMPLETE,
	RING_SWAPPED /* a neighbour of the chunk is swapped out */
};

/* Check whether the neighbours of the chunk at addr in its ring point back to it. */
static enum ring_state find_ring(const struct zend *z, uint64_t addr)
{
	static const uint64_t offsets[] = { ZEND_CHUNK_NEXT, ZEND_CHUNK_PREV };
	enum ring_state state = RING_COMPLETE;

	for (size_t i = 0; i < 2; i++) {
		uint64_t neighbour, back;

		if (!image_read(z->image, addr + offsets[i], &neighbour) ||
		    neighbour % ZEND_CHUNK_BYTES != 0)
			return RING_NONE;
		if (walk_is_swapped(z->input, neighbour))
			state = RING_SWAPPED;
		else if (!image_read(z->image, neighbour + offsets[1 - i], &back) ||
			 back != addr)
			return RING_NONE;
	}
	return state;
}

static void read_counters(const uint64_t *words, struct zend_counters *ret)
{
	memcpy(&ret->chunk_count, words + CHUNKS_COUNT, sizeof(ret->chunk_count));
	memcpy(&ret->kept_count, words + CACHED_COUNT, sizeof(ret->kept_count));
	memcpy(&ret->average_count, words + AVERAGE_COUNT, sizeof(ret->average_count));
	ret->boundary = (int32_t)(uint32_t)words[LAST_BOUNDARY];
	ret->deletion_count = (int32_t)(uint32_t)(words[LAST_BOUNDARY] >> 32);
}

/* Add the heap whose main chunk is at addr, if there is one. */
static void try_main_chunk(struct zend *z, uint64_t addr)
{
	const uint8_t *page = image_at(z->image, addr, ZEND_PAGE_BYTES);
	struct zend_heap heap = { .addr = addr };
	uint64_t words[MAIN_CHUNK_MAX + LAST_BOUNDARY + 1], main = MAIN_CHUNK_MIN;
	enum ring_state ring;

	if (!page)
		return;
	memcpy(words, page, sizeof(words[0]));
	ring = words[0] == addr + ZEND_CHUNK_HEAP_SLOT ? find_ring(z, addr) : RING_NONE;
	if (ring == RING_NONE)
		return;
	memcpy(words, page + ZEND_CHUNK_HEAP_SLOT, sizeof(words));
	while (main <= MAIN_CHUNK_MAX && words[main] != addr)
		main++;
	if (main <= MAIN_CHUNK_MAX)
		heap.bitmap_offset = find_bitmap(
			page, ZEND_CHUNK_HEAP_SLOT + 8 * (main + LAST_MEMBER + 1));
	if (heap.bitmap_offset == 0) {
		z->has_unknown_layout |= ring == RING_COMPLETE;
		return;
	}
	read_counters(words + main, &heap.counters);
	heap.size_bytes = words[SIZE];
	heap.huge_list_addr = words[main - 1];
	heap.cached_addr = words[main + 1];
	z->heaps =
		xgrow(z->heaps, &z->heap_capacity, z->heap_count + 1, sizeof(*z->heaps));
	z->heaps[z->heap_count++] = heap;
}

static void find_in_run(struct zend *z, const struct image_run *run)
{
	uint64_t start = run->start_addr, end = run->end_addr;
	uint64_t addr = (start + ZEND_CHUNK_BYTES - 1) & ~(ZEND_CHUNK_BYTES - 1);

	for (; addr >= start && addr < end; addr += ZEND_CHUNK_BYTES)
		if (!walk_is_claimed(z->input, addr))
			try_main_chunk(z, addr);
}

const char *zend_find(struct zend *z)
{
	for (size_t i = 0; i < z->image->run_count; i++)
		find_in_run(z, &z->image->runs[i]);
	return z->heap_count > 0 ? NULL : "PHP's memory manager was not found";
}
