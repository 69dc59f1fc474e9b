/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image - a copy of resident pages of a process's memory, with their addresses. Plain
 * data.
 *
 * Only resident pages take space in the image. Readers index their side tables by offset
 * in the image. The size of a table therefore depends only on the amount of resident
 * memory, never on addresses and sizes in the target's data.
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
	uint64_t start_addr, end_addr; /* page-aligned addresses; end_addr is exclusive */
	/* Offset of the run's first byte in the array image.bytes. */
	uint64_t offset_bytes;
};

struct image {
	uint8_t *bytes;
	uint64_t capacity_bytes;
	uint64_t length_bytes;	/* sum of the lengths of all runs */
	struct image_run *runs; /* runs in ascending address order */
	size_t run_count, run_capacity;
	size_t hint; /* index of the run of pages that the last search found */
	/*
	 * True if only some pages of the image have been copied. The other pages take no
	 * memory, and their bytes read as zeros.
	 */
	bool is_sparse;
	/* true if the bytes belong to a file in memory, which has the descriptor fd */
	bool has_file;
	int fd;
	/*
	 * True if no more pages of a sparse image are read, so that absent pages read as
	 * zeros: a walk should end soon, because its result is useless. Another thread
	 * may set it. image_make_watchable() then maps new memory.
	 */
	bool is_cut;
	/* number of copied bytes; set by peek_copy() or image_merge() */
	uint64_t copied_bytes;
};

#define IMAGE_INIT                                                    \
	{                                                             \
		NULL, 0, 0, NULL, 0, 0, 0, false, false, -1, false, 0 \
	}

void image_release(struct image *image);

static inline bool image_is_cut(const struct image *image)
{
	return __atomic_load_n(&image->is_cut, __ATOMIC_RELAXED);
}

/* Remove all runs, but keep the memory for reuse. */
void image_clear(struct image *image);

/*
 * Enlarge the image's buffer to at least this many bytes, and preserve its contents.
 * Unless the image is sparse, touch all pages, so that copying causes no page faults.
 * Return 0 or -ENOMEM.
 */
int image_reserve(struct image *image, uint64_t bytes);

/* Remove all runs, release the memory of all pages, and make the image sparse. */
void image_make_sparse(struct image *image);

/*
 * Like image_make_sparse(), but the bytes belong to a file in memory (memfd_create(2)):
 * pages can be added through the file, and are not mapped before they are accessed.
 * Return 0 or -errno; after an error, the image is not sparse.
 */
int image_make_watchable(struct image *image);

/* Release the memory of all pages of a sparse image, so that they read as zeros. */
void image_drop_pages(struct image *image);

/*
 * Append a run with the pages of [start_addr, end_addr). The caller fills in their bytes.
 * Return 0, or -EINVAL if the range is empty, is not page aligned, or does not lie after
 * the last run.
 */
int image_add_run(struct image *image, uint64_t start_addr, uint64_t end_addr);

/*
 * Copy the bytes of all runs of `part` to the same addresses in *image, whose runs must
 * contain these addresses. Return 0 or -ENOMEM.
 */
int image_merge(struct image *image, const struct image *part);

/*
 * Return the index of the first run that ends after addr, or run_count if every run ends
 * at or before addr.
 */
size_t image_find_run(const struct image *image, uint64_t addr);

/*
 * Return the run that contains the given offset in image.bytes. The offset must be
 * below length_bytes.
 */
const struct image_run *image_run_with_offset(const struct image *image, uint64_t offset);

/*
 * Search all runs for addr, without trying the result of the last search first. Return
 * the run that contains addr, or NULL.
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
 * Read the 8-byte word at addr into *ret. Return false if the word is not in the image.
 */
static inline bool image_read(struct image *image, uint64_t addr, uint64_t *ret)
{
	const uint8_t *at = image_at(image, addr, sizeof(*ret));

	if (at)
		memcpy(ret, at, sizeof(*ret));
	return at != NULL;
}

/*
 * Slow path of image_next_resident(), for an addr that is below limit and is not in the
 * run that the last search found.
 */
uint64_t image_search_resident(struct image *image, uint64_t addr, uint64_t limit);

/*
 * Return the lowest address of the image in [addr, limit), or limit if the image contains
 * no address of this range. Return addr if addr is not below limit.
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
