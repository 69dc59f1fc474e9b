/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pymalloc_image - memory of a made-up process with Python's object allocator.
 *
 * The image holds Python's data with usedpools[] and the pointer to the array of arenas,
 * that array, and two arenas: one that is aligned to a pool, with pools of several kinds,
 * and one that is not. The image is consistent when built; tests then damage it.
 */
#ifndef MS_TESTS_PYMALLOC_IMAGE_H
#define MS_TESTS_PYMALLOC_IMAGE_H

#include "walk/pymalloc/walk.h"

struct pymalloc_image {
	struct image image;
	struct mapping_list mappings;
	struct blocks blocks; /* set by the last walk */
	bool is_running;

	/* addresses in the image */
	uint64_t used_addr, arenas_word_addr, array_addr;
	uint64_t partial_addr; /* a pool with live, freed and never used blocks */
	uint64_t full_addr;    /* a pool without free blocks */
	uint64_t free_addr;    /* a free pool */
	uint64_t live_block_addr, freed_block_addr;

	/* The correct figures, which a walk must report. */
	struct chunk_sum live, free; /* blocks of pools that are in use */
	uint64_t free_pools, arena_count;
	uint64_t resident_bytes; /* of the arenas */
};

/* pool_bytes is 4096 for Python up to 3.9, and 16384 for later versions. */
void pymalloc_image_init(struct pymalloc_image *h, uint64_t pool_bytes,
			 unsigned int class_count);
void pymalloc_image_release(struct pymalloc_image *h);

/*
 * Add the types "type", "Thing", whose objects the collector tracks, and "plain", and
 * objects of the last two in the pool without free blocks.
 */
#define PYMALLOC_IMAGE_THINGS 7
#define PYMALLOC_IMAGE_PLAINS 5
void pymalloc_image_add_objects(struct pymalloc_image *h);

/* Addresses of the types, and the offset of a type's flags. */
#define PYMALLOC_IMAGE_TYPE(h) ((h)->array_addr + 0x400)
#define PYMALLOC_IMAGE_THING(h) ((h)->array_addr + 0x500)
#define PYMALLOC_IMAGE_PLAIN(h) ((h)->array_addr + 0x600)

void pymalloc_image_write(struct pymalloc_image *h, uint64_t addr, uint64_t value);
uint64_t pymalloc_image_read(struct pymalloc_image *h, uint64_t addr);

/* Walk the image's heap. The caller releases *ret. */
void pymalloc_image_walk(struct pymalloc_image *h, struct heap *ret);

#endif
