/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/early_keep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/xalloc.h"
#include "tracee/memory/page_bits.h"
#include "tracee/memory/write_track.h"

/* The pages of a run of the image, as indices into the bit table copy->copied. */
struct pages {
	uint64_t first, end;
};

static bool find_pages(const struct early_copy *copy, const struct image_run *run,
		       struct pages *ret)
{
	uint64_t offset;

	if (!copy_layout_find(&copy->layout, run->start_addr, run->end_addr, &offset))
		return false;
	ret->first = offset / IMAGE_PAGE_BYTES;
	ret->end = ret->first + (run->end_addr - run->start_addr) / IMAGE_PAGE_BYTES;
	return true;
}

void early_keep_list_missing(struct early_copy *copy, const struct image *image)
{
	for (size_t i = 0; i < image->run_count; i++) {
		const struct image_run *run = &image->runs[i];
		struct pages pages;
		uint64_t page, end;

		/*
		 * skip a run of pages outside the layout; early_keep_finish()
		 * reports the error
		 */
		if (!find_pages(copy, run, &pages))
			continue;
		for (page = pages.first;; page = end) {
			uint64_t addr;

			page = page_bits_find(copy->copied, page, pages.end, false);
			if (page == pages.end)
				break;
			end = page_bits_find(copy->copied, page, pages.end, true);
			addr = run->start_addr + (page - pages.first) * IMAGE_PAGE_BYTES;
			page_list_add(&copy->late, addr,
				      addr + (end - page) * IMAGE_PAGE_BYTES);
		}
	}
}

/* Release the store's memory for those pages in [page, end) that were copied. */
static void drop(struct early_copy *copy, uint64_t page, uint64_t end)
{
	for (uint64_t stop;; page = stop) {
		page = page_bits_find(copy->copied, page, end, true);
		if (page == end)
			break;
		stop = page_bits_find(copy->copied, page, end, false);
		page_bits_clear(copy->copied, page, stop);
		copy->copied_pages -= stop - page;
		madvise(copy->store.bytes + page * IMAGE_PAGE_BYTES,
			(stop - page) * IMAGE_PAGE_BYTES, MADV_DONTNEED);
	}
}

/*
 * Release the copies of pages that are no longer resident, and are therefore
 * not in the image.
 */
static void drop_absent(struct early_copy *copy, const struct image *image)
{
	uint64_t page = 0;

	for (size_t i = 0; i < image->run_count; i++) {
		const struct image_run *run = &image->runs[i];

		drop(copy, page, run->offset_bytes / IMAGE_PAGE_BYTES);
		page = (run->offset_bytes + (run->end_addr - run->start_addr)) /
		       IMAGE_PAGE_BYTES;
	}
	drop(copy, page, copy->layout.bytes / IMAGE_PAGE_BYTES);
}

/*
 * Set the offset of each run (range of pages) in the image to its offset
 * in the kept copy.
 */
static int place_runs(const struct early_copy *copy, struct image *image,
		      uint64_t *ret_resident_bytes)
{
	uint64_t bytes = 0, end = 0;

	for (size_t i = 0; i < image->run_count; i++) {
		struct image_run *run = &image->runs[i];

		if (!copy_layout_find(&copy->layout, run->start_addr, run->end_addr,
				      &run->offset_bytes))
			return -ESTALE;
		bytes += run->end_addr - run->start_addr;
		end = run->offset_bytes + (run->end_addr - run->start_addr);
	}
	*ret_resident_bytes = bytes;
	image->length_bytes = end;
	return 0;
}

/* Return true if the kept copy contains all pages of the image. */
static bool is_complete(const struct early_copy *copy, const struct image *image)
{
	struct pages pages;

	for (size_t i = 0; i < image->run_count; i++)
		if (!find_pages(copy, &image->runs[i], &pages) ||
		    page_bits_find(copy->copied, pages.first, pages.end, false) <
			    pages.end)
			return false;
	return true;
}

static bool mark_late(struct early_copy *copy, const struct image *late)
{
	struct pages pages;

	for (size_t i = 0; i < late->run_count; i++) {
		if (!find_pages(copy, &late->runs[i], &pages))
			return false;
		for (uint64_t page = pages.first; page < pages.end; page++) {
			uint64_t bit = UINT64_C(1) << (page % 64);

			copy->copied_pages += !(copy->copied[page / 64] & bit);
			copy->copied[page / 64] |= bit;
		}
	}
	return true;
}

int early_keep_finish(struct early_copy *copy, struct image *image,
		      const struct image *late)
{
	uint64_t resident_bytes;
	int r;

	/* the copy becomes the memory of the image, which must not have any */
	if (image->bytes || image->has_file)
		return -EINVAL;
	r = place_runs(copy, image, &resident_bytes);
	if (r < 0 || !mark_late(copy, late) || !is_complete(copy, image))
		return -ESTALE;
	drop_absent(copy, image);
	/*
	 * Clear the list of pages that memstate could not read before the stop. Each of
	 * them was copied during the stop, or is no longer resident and has a clear bit
	 * in copy->copied.
	 */
	copy->unread.count = 0;
	image->bytes = copy->store.bytes;
	image->capacity_bytes = copy->store.capacity_bytes;
	copy->store.bytes = NULL;
	copy->store.capacity_bytes = 0;
	r = image_merge(image, late);
	image->copied_bytes = resident_bytes;
	return r;
}

void early_keep_return(struct early_copy *copy, struct image *image)
{
	copy->store.bytes = image->bytes;
	copy->store.capacity_bytes = image->capacity_bytes;
	image->bytes = NULL;
	image->capacity_bytes = 0;
	image_release(image);
}

/*
 * Register the range for tracking again. The kernel ignores parts that are still
 * registered. If the mapping was not tracked when memstate read its flags, some of its
 * pages may be marked as protected although memstate has never copied them; see
 * write_track_find_stale().
 */
static int renew(struct early_copy *copy, int pagemap_fd, const struct early_range *range)
{
	int r = write_track_register(copy->tracker.fd, range->start_addr,
				     range->end_addr);

	if (r == 0 && !range->is_tracked)
		r = write_track_find_stale(pagemap_fd, range->start_addr, range->end_addr,
					   &copy->stale);
	return r;
}

int early_keep_renew(struct early_copy *copy, int pagemap_fd,
		     const struct early_range *ranges, size_t count)
{
	size_t kept = 0;

	free(copy->ranges);
	copy->ranges = xcalloc(count + 1, sizeof(*ranges));
	copy->range_count = 0;
	for (size_t i = 0; i < count; i++) {
		struct early_range *range = &copy->ranges[kept];
		int r;

		*range = ranges[i];
		if (!copy_layout_find(&copy->layout, range->start_addr, range->end_addr,
				      &range->offset_bytes))
			return -ESTALE;
		r = renew(copy, pagemap_fd, range);
		if (r < 0 && r != -EINVAL)
			return r;
		/* leave out a range that the process has already unmapped */
		kept += r == 0;
		copy->range_count = kept;
	}
	page_list_sort(&copy->stale);
	return kept == 0 ? -EINVAL : 0;
}
