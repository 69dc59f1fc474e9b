/* SPDX-License-Identifier: GPL-2.0-or-later */
/* content - the kind of data in a block, for blocks of unknown type. */
#ifndef MS_WALK_BLOCKS_CONTENT_H
#define MS_WALK_BLOCKS_CONTENT_H

#include "model/image.h"
#include "model/mapping.h"

/*
 * Classify the first 256 bytes of the block as the first of these that applies: absent
 * (none resident); zeros (all zero); text (at least 4 bytes of printable ASCII or white
 * space before the first zero, unless the first word is an address inside a mapping);
 * pointers (at least half of the nonzero words are such addresses); mixed.
 */
enum content {
	CONTENT_ABSENT,
	CONTENT_ZEROS,
	CONTENT_TEXT,
	CONTENT_POINTERS,
	CONTENT_MIXED,
	CONTENT_COUNT_
};

extern const char *const content_names[CONTENT_COUNT_];

enum content content_of(struct image *image, const struct mapping_list *mappings,
			uint64_t addr, uint64_t bytes);

#endif
