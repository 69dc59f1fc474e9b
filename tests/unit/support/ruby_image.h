/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ruby_image - memory of a made-up Ruby: slot pages with slots of two sizes, their
 * descriptions, and a transient heap if wanted. The image is consistent when built; tests
 * then damage it.
 */
#ifndef MS_TESTS_RUBY_IMAGE_H
#define MS_TESTS_RUBY_IMAGE_H

#include "made_memory.h"
#include "walk/ruby/walk.h"

#define RUBY_IMAGE_PAGES 9

struct ruby_image {
	struct made_memory memory;
	uint64_t page_bytes;

	/* addresses in the image */
	uint64_t page_addr;	   /* the first page, whose slots have 40 bytes */
	uint64_t description_addr; /* of this page */
	uint64_t live_slot_addr, free_slot_addr;
	uint64_t transient_addr; /* the second block, or 0 */

	/* The correct figures, which a walk must report. */
	struct chunk_sum live, free;
	uint64_t transient_live_bytes;
	uint64_t resident_bytes;
};

void ruby_image_init(struct ruby_image *h, uint64_t page_bytes, bool has_transient);

/* Change a word of all descriptions. */
void ruby_image_write_descriptions(struct ruby_image *h, unsigned int word,
				   uint64_t value);

#endif
