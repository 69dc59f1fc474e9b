/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * v8_image - memory of a made-up Node.js: an isolate with spaces of each kind, and a
 * chunk that is in no space. The image is consistent when built; tests then damage it.
 */
#ifndef MS_TESTS_V8_IMAGE_H
#define MS_TESTS_V8_IMAGE_H

#include "made_memory.h"
#include "walk/v8/walk.h"

/* Node.js 18, 20, 22 and 24. */
#define V8_IMAGE_VERSIONS 4

struct v8_image {
	struct made_memory memory;
	unsigned int version; /* index */

	/* addresses in the image */
	uint64_t version_addr;		    /* the string with the version of Node.js */
	uint64_t old_addr;		    /* a chunk of the old space */
	uint64_t descriptor_addr;	    /* of this chunk */
	uint64_t next_word_addr;	    /* of this chunk, in the list of the space */
	uint64_t allocated_word_addr;	    /* of this chunk */
	uint64_t front_addr, capacity_addr; /* in the old space */
	uint64_t node_addr;		    /* a range of free memory in this chunk */
	uint64_t category_addr;		    /* the list with this range */
	uint64_t area_addr;		    /* the allocation area of the new space */
	uint64_t heap_addr;

	/* The correct figures, which a walk must report. */
	uint64_t live_bytes[V8_KIND_COUNT_], free_bytes[V8_KIND_COUNT_];
	uint64_t resident_bytes, free_resident_bytes;
};

void v8_image_init(struct v8_image *h, unsigned int version);

#endif
