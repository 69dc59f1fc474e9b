/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image - a copy of the resident pages of some of a process's memory, at their addresses.
 * Plain data.
 *
 * Only pages that are there take room: side tables of a reader are indexed by offset, so
 * that they are in proportion to what is resident, whatever addresses and sizes the
 * memory itself speaks of.
 */
#ifndef MS_MODEL_IMAGE_H
#define MS_MODEL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define IMAGE_PAGE_BYTES UINT64_C(4096)

/* Adjacent pages. No two runs touch: whatever lies across the end of one is not all there. */
struct image_run {
	uint64_t start_addr, end_addr; /* page aligned, half open */
	uint64_t offset_bytes;	       /* of its copy in bytes */
};

struct image {
	uint8_t *bytes;
	uint64_t capacity_bytes;
	uint64_t length_bytes;	/* of all runs */
	struct image_run *runs; /* by address */
	size_t run_count, run_capacity;
	size_t hint; /* the run found last */
};

#define IMAGE_INIT                        \
	{                                 \
		NULL, 0, 0, NULL, 0, 0, 0 \
	}

void image_release(struct image *image);

/* Forget the runs, keep the room. */
void image_clear(struct image *image);

/*
 * Make room for so many bytes, and touch it all, so that no page fault is left for the
 * copy. What was in it is kept. Returns 0 or -ENOMEM.
 */
int image_reserve(struct image *image, uint64_t bytes);

/*
 * Append pages, behind all that are there. Their bytes are the caller's to fill in.
 * Returns 0, or
 * -EINVAL if they are out of order, not whole, or none.
 */
int image_add_run(struct image *image, uint64_t start_addr, uint64_t end_addr);

/* Index of the first run that ends after addr; run_count if none does. */
size_t image_find_run(const struct image *image, uint64_t addr);

/* As image_run_at(), without a look at the run found last. */
const struct image_run *image_search_run(struct image *image, uint64_t addr);

/* The run that holds addr, or NULL. */
static inline const struct image_run *image_run_at(struct image *image, uint64_t addr)
{
	if (image->hint < image->run_count) {
		const struct image_run *run = &image->runs[image->hint];

		if (addr >= run->start_addr && addr < run->end_addr)
			return run;
	}
	return image_search_run(image, addr);
}

/* The copy of [addr, addr + length), or NULL if not all of it is there. */
static inline const uint8_t *image_at(struct image *image, uint64_t addr, uint64_t length)
{
	const struct image_run *run = image_run_at(image, addr);

	if (!run || length > run->end_addr - addr)
		return NULL;
	return image->bytes + run->offset_bytes + (addr - run->start_addr);
}

/* A word of it. False if it is not there. */
static inline bool image_read(struct image *image, uint64_t addr, uint64_t *ret)
{
	const uint8_t *at = image_at(image, addr, sizeof(*ret));

	if (at)
		memcpy(ret, at, sizeof(*ret));
	return at != NULL;
}

/* addr if it is there, else the next address that is; limit if none is before that. */
uint64_t image_next_resident(struct image *image, uint64_t addr, uint64_t limit);

/* Bytes that are there of [start, end). */
uint64_t image_resident_bytes(const struct image *image, uint64_t start_addr,
			      uint64_t end_addr);

#endif
