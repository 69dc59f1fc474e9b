/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jemalloc_image - memory of a made-up process that uses
 * jemalloc, in any version since 5.0.
 *
 * The image holds the library's data with the root of the radix tree, a base block with
 * jemalloc's own data, a heap of two arenas with extents of each kind, and a thread with
 * a cache. It is consistent when built; tests then damage it.
 */
#ifndef MS_TESTS_JEMALLOC_IMAGE_H
#define MS_TESTS_JEMALLOC_IMAGE_H

#include "walk/jemalloc/walk.h"

/* The differences between versions and configurations. */
struct jemalloc_kind {
	const char *version;
	unsigned int state_shift, class_shift, free_shift;
	bool has_leaf_state; /* 5.3 and later; cache bins are stacks with 16-bit ends */
	unsigned int large_bins_gap; /* up to 5.2: gap between small and large bins */
	unsigned int address_bits;   /* LG_VADDR: 48 or 57 */
	unsigned int quantum_shift;  /* LG_QUANTUM: 4 or 3 */
	uint64_t pad_bytes;	     /* 0: opt.cache_oblivious:false */
};

extern const struct jemalloc_kind jemalloc_kinds[];
extern const size_t jemalloc_kind_count;

struct jemalloc_image {
	struct image image;
	struct mapping_list mappings;
	struct blocks blocks; /* set by the last walk */
	const struct jemalloc_kind *kind;
	uint64_t thread_addrs[2]; /* the second thread has never called malloc */
	bool is_running;

	/* Addresses in the image. */
	uint64_t root_element_addr, last_element_addr, base_addr;
	uint64_t leaf_addr;	   /* the only leaf of the radix tree */
	uint64_t leaf_first_addr;  /* the first address that the leaf describes */
	uint64_t slab_addr;	   /* a slab of 48-byte blocks in the first arena */
	uint64_t slab_extent_addr; /* the extent structure of that slab */
	/* the extent structure of a slab in the second arena */
	uint64_t other_extent_addr;
	uint64_t
		/* an extent structure whose second half is on a missing page */
		split_extent_addr;
	uint64_t large_addr;   /* a live block of 16384 bytes */
	uint64_t cached_addr;  /* a 48-byte block in the thread's cache */
	uint64_t cached_place; /* the cache slot that holds cached_addr */
	uint64_t bins_addr;
	uint64_t stack_addr;

	/* The correct figures, which a walk must report. */
	struct chunk_sum live, cached, free, own;
	uint64_t active_bytes, dirty_bytes, muzzy_bytes, retained_bytes;
	uint64_t first_arena_live_bytes;
};

void jemalloc_image_init(struct jemalloc_image *h, const struct jemalloc_kind *kind);
void jemalloc_image_release(struct jemalloc_image *h);

void jemalloc_image_write(struct jemalloc_image *h, uint64_t addr, uint64_t value);
uint64_t jemalloc_image_read(struct jemalloc_image *h, uint64_t addr);

/* Walk the image's heap. The caller releases *ret. */
void jemalloc_image_walk(struct jemalloc_image *h, struct heap *ret);

#endif
