/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/glibc/bin.h"

#include "walk/glibc/walk.h"

/*
 * Upper bound on the offset of `top` in struct malloc_state, in all glibc versions. The
 * bins follow `top`.
 */
#define TOP_OFFSET_MAX 128

#define SMALL_BINS 64

/* Maximum size of chunks for which a thread cache has a separate list for each size. */
#define CACHE_SMALL_MAX 1040

/* Maximum number of chunks to visit in one search, because a bin may contain millions. */
#define STEPS_MAX 4000000

/*
 * Find the bins of an arena. Store the address of the first bin, treated as a chunk, in
 * *ret_addr. Return false if the bins cannot be found.
 */
static bool find_bins(struct image *image, const struct heap_arena *arena,
		      uint64_t *ret_addr)
{
	for (uint64_t offset = 0; offset < TOP_OFFSET_MAX; offset += 8) {
		uint64_t word;

		if (!image_read(image, arena->addr + offset, &word))
			return false;
		if (word == arena->top_addr) {
			*ret_addr = arena->addr + offset;
			return true;
		}
	}
	return false;
}

/*
 * Return the number of the bin that contains a chunk, counted from 1, or 0 if the bin
 * cannot be determined.
 */
static uint64_t find_number(struct image *image, const struct heap_arena *arena,
			    uint64_t chunk_addr)
{
	uint64_t addr = chunk_addr;
	uint64_t bins_addr;

	if (!find_bins(image, arena, &bins_addr))
		return 0;
	for (size_t steps = 0; steps < STEPS_MAX; steps++) {
		if (!image_read(image, addr + CHUNK_HEAD, &addr))
			return 0;
		if (addr - bins_addr < BIN_COUNT * CHUNK_HEAD)
			return (addr - bins_addr) / CHUNK_HEAD + 1;
	}
	return 0;
}

enum glibc_bin glibc_bin_find(const struct blocks *blocks, const struct heap_arena *arena,
			      const struct block *block, uint64_t *ret_chunk_bytes)
{
	uint64_t chunk_addr = block->addr - CHUNK_HEAD;
	uint64_t size, next_size, number;

	*ret_chunk_bytes = 0;
	if (!image_read(blocks->image, chunk_addr + 8, &size))
		return GLIBC_BIN_UNKNOWN;
	size &= ~CHUNK_FLAGS;
	if (block->state == BLOCK_CACHED) {
		*ret_chunk_bytes = size <= CACHE_SMALL_MAX ? size : 0;
		return GLIBC_BIN_CACHE;
	}
	if (!image_read(blocks->image, chunk_addr + size + 8, &next_size))
		return GLIBC_BIN_UNKNOWN;
	/*
	 * The chunk after a chunk in a fastbin still marks the latter as in use, so
	 * malloc does not merge the two.
	 */
	if (next_size & CHUNK_PREV_INUSE) {
		*ret_chunk_bytes = size;
		return GLIBC_BIN_FAST;
	}
	number = find_number(blocks->image, arena, chunk_addr);
	if (number == 0)
		return GLIBC_BIN_UNKNOWN;
	if (number == 1)
		return GLIBC_BIN_UNSORTED;
	if (number >= SMALL_BINS)
		return GLIBC_BIN_LARGE;
	*ret_chunk_bytes = size;
	return GLIBC_BIN_SMALL;
}
