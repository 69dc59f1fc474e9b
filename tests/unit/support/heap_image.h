/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_image - memory of a made-up process that uses glibc's malloc, in any version.
 *
 * The image holds libc's data, a main arena in brk memory, a second arena in its
 * own heap, an mmapped chunk, and a thread with a cache. It is consistent when
 * built; tests then damage it.
 */
#ifndef MS_TESTS_HEAP_IMAGE_H
#define MS_TESTS_HEAP_IMAGE_H

#include "walk/glibc/walk.h"

/* The differences between glibc versions. */
struct heap_kind {
	const char *version;
	uint64_t bins_offset, fast_offset;
	uint64_t par_count_offset, par_bytes_offset, par_base_offset, par_cache_offset;
	uint64_t heap_info_bytes;
	uint64_t cache_chunk_bytes;
	unsigned int cache_bins, cache_count_bytes;
	unsigned int cache_slots;
	bool cache_counts_down;
	bool is_protected;
	bool is_mapped_size_short; /* the size of an mmapped chunk lacks its header */
};

extern const struct heap_kind heap_kinds[];
extern const size_t heap_kind_count;

struct heap_image {
	struct image image;
	struct blocks blocks; /* set by the last walk */
	struct mapping_list mappings;
	uint64_t thread_addr;
	bool is_running;	/* false unless a test sets it */
	const uint8_t *claimed; /* as in struct walk_input; NULL unless a test sets it */

	/* Addresses in the image. */
	uint64_t main_arena_addr, par_addr, second_arena_addr;
	uint64_t heap_addr, top_addr;
	uint64_t heap_info_addr;   /* the heap_info of the second arena's heap */
	uint64_t second_live_addr; /* the first chunk in the second arena */
	uint64_t live_addr, bin_addr, fast_addr,
		cached_addr; /* the first chunk of each kind in main */
	uint64_t cache_addr; /* user address of the thread's cache */

	/* The correct figures, which a walk must report. */
	struct chunk_sum live, bin, fast, cached, mapped; /* sums over both arenas */
	uint64_t top_bytes;				  /* sum over both arenas */
	uint64_t system_bytes;
};

void heap_image_init(struct heap_image *h, const struct heap_kind *kind);
void heap_image_release(struct heap_image *h);

/* Remove the pages of [start, end) from the image, as if they were swapped out. */
void heap_image_drop(struct heap_image *h, uint64_t start_addr, uint64_t end_addr);

void heap_image_write(struct heap_image *h, uint64_t addr, uint64_t value);
uint64_t heap_image_read(struct heap_image *h, uint64_t addr);

/* Walk the image's heap. The caller releases *ret. */
void heap_image_walk(struct heap_image *h, struct heap *ret);

#endif
