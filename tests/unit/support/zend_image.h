/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zend_image - memory of a made-up PHP: a main chunk with runs of each kind, a second
 * chunk, a cached chunk, and a huge block. The image is consistent when built; tests then
 * damage it.
 */
#ifndef MS_TESTS_ZEND_IMAGE_H
#define MS_TESTS_ZEND_IMAGE_H

#include "made_memory.h"
#include "walk/zend/walk.h"

/* Differences between versions and builds. */
struct zend_image_layout {
	uint64_t real_size;   /* index of the member */
	uint64_t main_chunk;  /* index of the member */
	uint64_t heap_length; /* words in the struct of the heap */
};

struct zend_image {
	struct made_memory memory;
	struct zend_image_layout layout;

	/* addresses in the image */
	uint64_t main_addr, second_addr, cached_addr;
	uint64_t size_addr, real_size_addr, slots_addr, huge_list_addr;
	uint64_t counters_addr;		/* cached_chunks, and the counters after it */
	uint64_t bitmap_addr, map_addr; /* of the main chunk */
	uint64_t live_block_addr, free_block_addr; /* blocks of 64 bytes */

	/* The correct figures, which a walk must report. */
	struct chunk_sum live, free;
	uint64_t real_bytes;
	uint64_t resident_bytes;
};

void zend_image_init(struct zend_image *h, const struct zend_image_layout *layout);

#endif
