/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jemalloc_image - the memory of a made-up process that uses jemalloc, of any version from 5.0 on.
 *
 * The library's data with the root of the radix tree, a base block with jemalloc's own data, a heap of
 * two arenas with extents of each kind, and a thread with a cache. Sound as built; tests then damage it.
 */
#ifndef MS_TESTS_JEMALLOC_IMAGE_H
#define MS_TESTS_JEMALLOC_IMAGE_H

#include "walk/walk.h"

/* What differs between versions and configurations. */
struct jemalloc_kind {
	const char *version;
	unsigned int state_shift, class_shift, free_shift;
	bool has_leaf_state; /* and bins that are stacks with 16-bit ends: 5.3 and later */
	unsigned int large_bins_gap; /* up to 5.2: between small and large bins */
	unsigned int address_bits;   /* LG_VADDR: 48 or 57 */
	unsigned int quantum_shift;  /* LG_QUANTUM: 4 or 3 */
	uint64_t pad_bytes;	     /* 0: opt.cache_oblivious:false */
};

extern const struct jemalloc_kind jemalloc_kinds[];
extern const size_t jemalloc_kind_count;

struct jemalloc_image {
	struct image image;
	struct mapping_list mappings;
	struct blocks blocks; /* of the last walk */
	const struct jemalloc_kind *kind;
	uint64_t thread_addrs[2]; /* the second thread never called malloc */
	bool is_running;

	/* Where things are. */
	uint64_t root_element_addr, last_element_addr, base_addr;
	uint64_t slab_addr;	    /* of blocks of 48 bytes, in the first arena */
	uint64_t slab_extent_addr;  /* its structure */
	uint64_t other_extent_addr; /* the structure of a slab of the second arena */
	uint64_t
		split_extent_addr; /* one with its second half on a page that is not there */
	uint64_t large_addr;	   /* a live block of 16384 bytes */
	uint64_t cached_addr;	   /* a block of 48 bytes in the thread's cache */
	uint64_t cached_place;	   /* where the cache has that */
	uint64_t bins_addr;
	uint64_t stack_addr;

	/* What is true of it. */
	struct chunk_sum live, cached, free, own;
	uint64_t active_bytes, dirty_bytes, muzzy_bytes, retained_bytes;
	uint64_t first_arena_live_bytes;
};

void jemalloc_image_init(struct jemalloc_image *h, const struct jemalloc_kind *kind);
void jemalloc_image_release(struct jemalloc_image *h);

void jemalloc_image_write(struct jemalloc_image *h, uint64_t addr, uint64_t value);
uint64_t jemalloc_image_read(struct jemalloc_image *h, uint64_t addr);

/* Walk it. The caller releases *ret. */
void jemalloc_image_walk(struct jemalloc_image *h, struct heap *ret);

#endif
