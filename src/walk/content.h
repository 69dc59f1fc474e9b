/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * content - what the bytes of a block look like, for blocks of which no type is known.
 */
#ifndef MS_WALK_CONTENT_H
#define MS_WALK_CONTENT_H

#include "model/image.h"
#include "model/mapping.h"

/*
 * Of the first 256 bytes, the first of these that holds: nothing of it is resident; all
 * are zero; the bytes before the first zero, 4 of them or more, are printable ASCII or
 * white space; half of the words that are not zero are addresses within mappings; else
 * mixed.
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
