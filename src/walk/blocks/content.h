/* SPDX-License-Identifier: GPL-2.0-or-later */
/* content - determine the kind of data, such as text, in a block of unknown type. */
#ifndef MS_WALK_BLOCKS_CONTENT_H
#define MS_WALK_BLOCKS_CONTENT_H

#include "model/image.h"
#include "model/mapping.h"

/*
 * The content of a block's first 256 bytes. The first of these values that applies is
 * used:
 *
 * ABSENT: no byte is resident.
 * ZEROS: all bytes are zero.
 * TEXT: at least 4 printable ASCII or white space characters precede the first zero, and
 * the first word is not an address inside a mapping.
 * POINTERS: at least half of the nonzero words are addresses inside a mapping.
 * MIXED: any other content.
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
