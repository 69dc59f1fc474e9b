/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * golang_image - memory of a made-up Go program.
 *
 * The image holds the program's data with mheap_.allspans, the list of spans and their
 * descriptions, the bits of one span, the table of arenas, an arena with spans of each
 * kind, and an arena without spans. The image is consistent when built; tests then damage
 * it.
 */
#ifndef MS_TESTS_GOLANG_IMAGE_H
#define MS_TESTS_GOLANG_IMAGE_H

#include "walk/golang/walk.h"

struct golang_image {
	struct image image;
	struct mapping_list mappings;
	struct blocks blocks; /* set by the last walk */
	bool is_running;
	bool is_short; /* layout of Go 1.22 and later */

	/* addresses in the image */
	uint64_t slice_addr, table_word_addr, list_addr;
	uint64_t small_span_addr; /* description of a span with live and free objects */
	uint64_t large_span_addr;
	uint64_t bits_addr;
	uint64_t live_object_addr, free_object_addr; /* objects of 64 bytes */

	/* The correct figures, which a walk must report. */
	struct chunk_sum live, free;
	uint64_t manual_bytes, idle_bytes, table_bytes;
	uint64_t resident_bytes; /* of all of these */
};

void golang_image_init(struct golang_image *h, bool is_short);
void golang_image_release(struct golang_image *h);

void golang_image_write(struct golang_image *h, uint64_t addr, uint64_t value);
uint64_t golang_image_read(struct golang_image *h, uint64_t addr);

/* Walk the image's heap. The caller releases *ret. */
void golang_image_walk(struct golang_image *h, struct heap *ret);

#endif
