/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mallocng_image - memory of a made-up process that uses musl's mallocng.
 *
 * The image holds musl's data with the context, two meta areas, and groups of each kind:
 * one with its own mapping and a nested group, one with 32 slots, a block with a mapping
 * of its own, and a donated group in musl's data. The image is consistent when built;
 * tests then damage it.
 */
#ifndef MS_TESTS_MALLOCNG_IMAGE_H
#define MS_TESTS_MALLOCNG_IMAGE_H

#include "walk/mallocng/walk.h"

struct mallocng_image {
	struct image image;
	struct mapping_list mappings;
	struct blocks blocks; /* set by the last walk */
	bool is_running;

	/* addresses in the image */
	uint64_t context_addr, first_area_addr, second_area_addr;
	uint64_t outer_meta_addr, nested_meta_addr, mapped_meta_addr;
	uint64_t outer_addr, nested_addr;
	uint64_t aligned_addr; /* a live block that begins after its slot's start */
	uint64_t mapped_addr;  /* a live block with its own mapping */
	uint64_t empty_addr;   /* a live block of 0 bytes */

	/* The correct figures, which a walk must report. */
	uint64_t live_count, requested_bytes;
	struct chunk_sum live, free;
	uint64_t mapped_bytes;
};

void mallocng_image_init(struct mallocng_image *h);
void mallocng_image_release(struct mallocng_image *h);

void mallocng_image_write(struct mallocng_image *h, uint64_t addr, uint64_t value);
uint64_t mallocng_image_read(struct mallocng_image *h, uint64_t addr);

/* Walk the image's heap. The caller releases *ret. */
void mallocng_image_walk(struct mallocng_image *h, struct heap *ret);

#endif
