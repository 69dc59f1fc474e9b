/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image - a copy of resident pages of a process's memory, with their
 * addresses. Plain data.
 *
 * Only resident pages take space. Readers index their side tables by offset in the copy,
 * so the tables stay in proportion to the resident memory whatever addresses and sizes
 * the target's data contains.
 */
#ifndef MS_MODEL_IMAGE_H
#define MS_MODEL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define IMAGE_PAGE_BYTES UINT64_C(4096)

/*
 * A run of adjacent pages. There is a gap between any two runs, so an object that crosses
 * the end of a run is not completely resident.
 */
struct image_run {
	uint64_t start_addr, end_addr; /* page aligned; end_addr is exclusive */
	/* Offset of the run's first byte in the array image.bytes. */
	uint64_t offset_bytes;
};

struct image {
	uint8_t *bytes;
	uint64_t capacity_bytes;
	uint64_t length_bytes;	/* sum of the lengths of all runs */
	struct image_run *runs; /* in ascending address order */
	size_t run_count, run_capacity;
	size_t hint; /* index of the run of pages that the last search found */
	/*
	 * Only some pages of the runs have been copied; the others take no memory and
	 * read as zeros.
	 */
	bool is_sparse;
	uint64_t copied_bytes; /* bytes that were copied; set by peek_copy() */
};

#define IMAGE_INIT                                  \
	{                                           \
		NULL, 0, 0, NULL, 0, 0, 0, false, 0 \
	}

void image_release(struct image *image);

/* Remove all runs but keep the memory for reuse. */
void image_clear(struct image *image);

/*
 * Make room for this many bytes and, unless the image is sparse, touch all of them, so
 * that copying causes no page faults. The contents are kept. Returns 0 or -ENOMEM.
 */
int image_reserve(struct image *image, uint64_t bytes);

/* Remove all runs, release the memory of all pages, and make the image sparse. */
void image_make_sparse(struct image *image);

/* Release the memory of all pages of a sparse image. They read as zeros. */
void image_drop_pages(struct image *image);

/* Remove all runs, and touch all pages of a sparse image. */
void image_make_dense(struct image *image);

/*
 * Append the pages of [start_addr, end_addr) after the last run. The caller
 * fills in their bytes. Returns 0, or -EINVAL if the range is not after the last
 * run, not page aligned, or empty.
 */
int image_add_run(struct image *image, uint64_t start_addr, uint64_t end_addr);

/*
 * Return the index of the first run that ends after addr, or run_count if all runs
 * end before addr.
 */
size_t image_find_run(const struct image *image, uint64_t addr);

/*
 * Search all runs for addr, without trying the run that was found last. Return the run
 * that contains addr, or NULL.
 */
const struct image_run *image_search_run(struct image *image, uint64_t addr);

/* Return the run that contains addr, or NULL. */
static inline const struct image_run *image_run_at(struct image *image, uint64_t addr)
{
	if (image->hint < image->run_count) {
		const struct image_run *run = &image->runs[image->hint];

		if (addr >= run->start_addr && addr < run->end_addr)
			return run;
	}
	return image_search_run(image, addr);
}

/* Return the copy of [addr, addr + length), or NULL if part of it is missing. */
static inline const uint8_t *image_at(struct image *image, uint64_t addr, uint64_t length)
{
	const struct image_run *run = image_run_at(image, addr);

	if (!run || length > run->end_addr - addr)
		return NULL;
	return image->bytes + run->offset_bytes + (addr - run->start_addr);
}

/*
 * Read the 8-byte word at addr into *ret. Returns false if the word is not in the image.
 */
static inline bool image_read(struct image *image, uint64_t addr, uint64_t *ret)
{
	const uint8_t *at = image_at(image, addr, sizeof(*ret));

	if (at)
		memcpy(ret, at, sizeof(*ret));
	return at != NULL;
}

/*
 * Return what image_next_resident() returns, for an addr below limit that is not in the
 * run found last.
 */
uint64_t image_search_resident(struct image *image, uint64_t addr, uint64_t limit);

/*
 * Return the lowest address that is in the image and not below addr, or limit if
 * no such address is below limit.
 */
static inline uint64_t image_next_resident(struct image *image, uint64_t addr,
					   uint64_t limit)
{
	if (addr >= limit)
		return addr;
	if (image->hint < image->run_count) {
		const struct image_run *run = &image->runs[image->hint];

		if (addr >= run->start_addr && addr < run->end_addr)
			return addr;
	}
	return image_search_resident(image, addr, limit);
}

/* Return how many bytes of [start_addr, end_addr) are in the image. */
uint64_t image_resident_bytes(const struct image *image, uint64_t start_addr,
			      uint64_t end_addr);

#endif
