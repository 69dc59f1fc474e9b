/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * partition_image - memory of a made-up Chromium: a partition with a thread cache and a
 * direct map, and the partition that contains the cache. The image is consistent when
 * built; tests then damage it.
 */
#ifndef MS_TESTS_PARTITION_IMAGE_H
#define MS_TESTS_PARTITION_IMAGE_H

#include "made_memory.h"
#include "walk/partition/walk.h"

/* Chromium 156 and 150, and 156 with the metadata at another address. */
#define PARTITION_IMAGE_VERSIONS 3

struct partition_image {
	struct made_memory memory;

	/* addresses in the image */
	uint64_t root_addr, inner_root_addr;
	uint64_t figures_addr;	/* the word initialized_ of the first root */
	uint64_t inverted_addr; /* the last word of the first root */
	uint64_t metadata_addr; /* of the first partition's super page */
	uint64_t direct_metadata_addr;
	uint64_t direct_extent_addr; /* PartitionDirectMapExtent of the direct map */
	uint64_t bucket_addr;	     /* the first bucket of the first root */
	uint64_t first_free_addr, last_free_addr; /* the list of the first span */
	uint64_t cache_addr;  /* the element of the cache that has slots */
	uint64_t cached_addr; /* the first of these slots */

	/* The correct figures, which a walk must report. */
	uint64_t live_count, live_bytes, cached_count, cached_bytes;
	uint64_t resident_bytes, live_resident_bytes, free_resident_bytes;
};

void partition_image_init(struct partition_image *h, unsigned int version);

#endif
