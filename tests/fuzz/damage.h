/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * damage - overwrites words of an image for one input and restores them for the next:
 * building an image takes longer than walking it.
 *
 * A fuzzer works only on the pages that are not all zero. The others cost time, and a
 * walk finds nothing in them. Replays of the corpus use all pages.
 */
#ifndef MS_TESTS_DAMAGE_H
#define MS_TESTS_DAMAGE_H

#include <string.h>

#include "fuzz.h"
#include "model/image.h"

#define RECORD_BYTES 12
#define RECORDS_MAX 4096
#define NO_PAGE UINT64_MAX

/*
 * Shallow backtraces and a small quarantine. ASan's defaults
 * would take longer than a walk.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "malloc_context_size=2:quarantine_size_mb=4:thread_local_quarantine_size_kb=256";
}

struct damage {
	struct image *image;
	uint64_t full_bytes; /* size of the full image, which inputs address */
	/* for each page of the full image: its offset in the image, or NO_PAGE */
	uint64_t *pages;
	struct {
		uint64_t offset, old;
	} undo[RECORDS_MAX];
	size_t count;
};

static inline bool damage_is_zero(const uint8_t *page)
{
	return page[0] == 0 && memcmp(page, page + 1, IMAGE_PAGE_BYTES - 1) == 0;
}

/* Remember the image. A fuzzer drops the image's zero pages. */
static inline void damage_init(struct damage *d, struct image *image)
{
	struct image full = *image, kept = IMAGE_INIT;

	*d = (struct damage){ .image = image, .full_bytes = full.length_bytes };
	d->pages = calloc(full.length_bytes / IMAGE_PAGE_BYTES + 1, sizeof(*d->pages));
	CHECK(d->pages && image_reserve(&kept, full.length_bytes) == 0);
	for (size_t i = 0; i < full.run_count; i++) {
		const struct image_run *run = &full.runs[i];

		for (uint64_t at = run->start_addr; at < run->end_addr;
		     at += IMAGE_PAGE_BYTES) {
			uint64_t offset = run->offset_bytes + (at - run->start_addr);
			bool is_dropped = !fuzz_is_replay() &&
					  damage_is_zero(full.bytes + offset);

			d->pages[offset / IMAGE_PAGE_BYTES] =
				is_dropped ? NO_PAGE : kept.length_bytes;
			if (is_dropped)
				continue;
			memcpy(kept.bytes + kept.length_bytes, full.bytes + offset,
			       IMAGE_PAGE_BYTES);
			CHECK(image_add_run(&kept, at, at + IMAGE_PAGE_BYTES) == 0);
		}
	}
	image_release(&full);
	*image = kept;
}

/*
 * Apply records of 12 bytes: the number of a word in the full image
 * (4), and its new value (8).
 */
static inline void damage_apply(struct damage *d, const uint8_t *data, size_t size)
{
	d->count = 0;
	for (; d->count < RECORDS_MAX && size >= RECORD_BYTES;
	     data += RECORD_BYTES, size -= RECORD_BYTES) {
		uint64_t offset, page;
		uint32_t at;

		memcpy(&at, data, sizeof(at));
		offset = at % (d->full_bytes / 8) * 8;
		page = d->pages[offset / IMAGE_PAGE_BYTES];
		if (page == NO_PAGE)
			continue;
		offset = page + offset % IMAGE_PAGE_BYTES;
		d->undo[d->count].offset = offset;
		memcpy(&d->undo[d->count].old, d->image->bytes + offset, 8);
		memcpy(d->image->bytes + offset, data + sizeof(at), 8);
		d->count++;
	}
}

static inline void damage_undo(struct damage *d)
{
	while (d->count-- > 0)
		memcpy(d->image->bytes + d->undo[d->count].offset, &d->undo[d->count].old,
		       8);
	d->count = 0;
}

#endif
