/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oldmalloc_image - memory of a made-up process that uses musl's old malloc.
 *
 * The image holds the data of musl with the bins and a region of unused data, a region
 * from brk(), one from mmap(), a block with its own mapping, and an aligned one. Free
 * chunks are in three bins. The image is consistent when built; tests then damage it.
 */
#ifndef MS_TESTS_OLDMALLOC_IMAGE_H
#define MS_TESTS_OLDMALLOC_IMAGE_H

#include "walk/oldmalloc/walk.h"

struct oldmalloc_image {
	struct image image;
	struct mapping_list mappings;
	struct blocks blocks; /* set by the last walk */
	bool is_running;

	/* addresses in the image */
	uint64_t map_addr, bins_addr;  /* the map of bins in use, then the bins */
	uint64_t brk_addr, mmap_addr;  /* the regions */
	uint64_t donated_addr;	       /* first chunk of the region in musl's data */
	uint64_t live_addr, free_addr; /* two chunks of the region from brk() */
	uint64_t last_addr;	       /* the chunk of size 0 at the end of that region */
	uint64_t mapped_addr, aligned_addr; /* heads of the blocks with mappings */
	unsigned int free_bin;		    /* the bin that contains free_addr */

	/* The correct figures, which a walk must report. */
	struct chunk_sum live, free, mapped;
	uint64_t resident_bytes; /* of the heap */
};

void oldmalloc_image_init(struct oldmalloc_image *h);
void oldmalloc_image_release(struct oldmalloc_image *h);

void oldmalloc_image_write(struct oldmalloc_image *h, uint64_t addr, uint64_t value);
uint64_t oldmalloc_image_read(struct oldmalloc_image *h, uint64_t addr);

/* Walk the image's heap. The caller releases *ret. */
void oldmalloc_image_walk(struct oldmalloc_image *h, struct heap *ret);

#endif
