/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/early_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/search.h"
#include "base/xalloc.h"
#include "tracee/memory/early_keep.h"
#include "tracee/memory/write_track.h"

#define HUGE_PAGE_BYTES (UINT64_C(2) << 20)

/*
 * Amount of memory that is copied from copy->store to the final image before these pages
 * of the store are released.
 */
#define RELEASE_BYTES (UINT64_C(16) << 20)

static void advise_huge(struct early_copy *copy)
{
	for (size_t i = 0; i < copy->range_count; i++) {
		const struct early_range *range = &copy->ranges[i];

		if (range->wants_huge)
			madvise(copy->store.bytes + range->offset_bytes,
				range->end_addr - range->start_addr, MADV_HUGEPAGE);
	}
}

/*
 * Assign each range an offset in copy->store, such that huge pages of the process are
 * aligned with huge pages of the store. Return the size of the store.
 */
static uint64_t lay_out(struct early_copy *copy)
{
	uint64_t offset = 0;

	for (size_t i = 0; i < copy->range_count; i++) {
		struct early_range *range = &copy->ranges[i];

		if (copy_layout_find(&copy->layout, range->start_addr, range->end_addr,
				     &range->offset_bytes))
			continue;
		offset += (range->start_addr - offset) & (HUGE_PAGE_BYTES - 1);
		range->offset_bytes = offset;
		offset += range->end_addr - range->start_addr;
	}
	return early_copy_is_kept(copy) ? copy->layout.bytes : offset;
}

static struct tracked_part make_part(int pagemap_fd, const struct early_range *range,
				     uint64_t start_addr, uint64_t end_addr)
{
	uint64_t offset = range->offset_bytes + (start_addr - range->start_addr);

	return (struct tracked_part){ .pagemap_fd = pagemap_fd,
				      .start_addr = start_addr,
				      .end_addr = end_addr,
				      .first_page = offset / IMAGE_PAGE_BYTES };
}

static struct tracked_part whole_range(int pagemap_fd, const struct early_range *range)
{
	return make_part(pagemap_fd, range, range->start_addr, range->end_addr);
}

/*
 * Begin to track the ranges. Leave out ranges that the process has already unmapped. If
 * the process maps new memory there, that memory is copied in the pause.
 */
static int add_ranges(struct early_copy *copy, int pagemap_fd)
{
	struct write_tracker *tracker = &copy->tracker;
	size_t count = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < copy->range_count; i++) {
		const struct early_range *range = &copy->ranges[i];
		const struct tracked_part part = whole_range(pagemap_fd, range);

		if (tracker->kind->splits_huge_pages)
			r = write_track_find_huge(pagemap_fd, range->start_addr,
						  range->end_addr, &copy->huge);
		if (r == 0)
			r = tracker->kind->add(tracker, &part, &copy->stale);
		if (r == -EINVAL) {
			r = 0;
			continue;
		}
		copy->ranges[count++] = *range;
	}
	copy->range_count = count;
	return r == 0 && count == 0 ? -EINVAL : r;
}

int early_copy_begin(struct early_copy *copy, const struct write_tracker *tracker,
		     int pagemap_fd, const struct early_range *ranges, size_t count)
{
	uint64_t bytes;
	int r;

	*copy = (struct early_copy){
		.tracker = *tracker,
		.range_count = count,
		.layout = copy->layout,
	};
	copy->ranges = xcalloc(count + 1, sizeof(*ranges));
	memcpy(copy->ranges, ranges, count * sizeof(*ranges));
	bytes = lay_out(copy);
	copy->copied = xcalloc(bytes / IMAGE_PAGE_BYTES / 64 + 1, sizeof(*copy->copied));
	image_make_sparse(&copy->store);
	r = image_reserve(&copy->store, bytes + 1);
	if (r == 0)
		r = add_ranges(copy, pagemap_fd);
	if (r == 0)
		r = tracker->kind->begin(&copy->tracker, bytes / IMAGE_PAGE_BYTES);
	if (r == 0)
		advise_huge(copy);
	return r;
}

static void mark_copied(struct early_copy *copy, uint64_t offset, uint64_t length)
{
	uint64_t end = (offset + length) / IMAGE_PAGE_BYTES;

	for (uint64_t page = offset / IMAGE_PAGE_BYTES; page < end; page++) {
		uint64_t bit = UINT64_C(1) << (page % 64);

		copy->copied_pages += !(copy->copied[page / 64] & bit);
		copy->copied[page / 64] |= bit;
	}
}

/* Copy the pages, and add those that could not be read to the list copy->unread. */
static int copy_noting_unread(struct early_copy *copy, const struct peek *peek,
			      const struct peek_range *range, struct image *part)
{
	struct peek noting = *peek;

	noting.thread_count = 1;
	noting.unread = &copy->unread;
	return peek_copy(&noting, range, 1, part);
}

/*
 * Copy the listed pages, all of which are in `range`, to copy->store, where each page
 * has its own offset.
 */
static int copy_list(struct early_copy *copy, const struct peek *peek,
		     const struct early_range *range, const struct page_list *list)
{
	const struct peek_range shared = { .start_addr = range->start_addr,
					   .end_addr = range->end_addr,
					   .is_shared = range->is_shared };
	struct image part = { .bytes = copy->store.bytes,
			      .capacity_bytes = copy->store.capacity_bytes };
	int r = 0;

	for (size_t i = 0; r == 0 && i < list->count; i++)
		r = image_add_run(&part, list->items[i].start_addr,
				  list->items[i].end_addr);
	for (size_t i = 0; r == 0 && i < part.run_count; i++) {
		struct image_run *run = &part.runs[i];

		run->offset_bytes =
			range->offset_bytes + (run->start_addr - range->start_addr);
		mark_copied(copy, run->offset_bytes, run->end_addr - run->start_addr);
	}
	if (r == 0)
		r = copy_noting_unread(copy, peek, &shared, &part);
	free(part.runs);
	return r;
}

/*
 * Return the end of the piece of the range that begins at addr. The pages of each
 * piece are listed, and then copied, before those of the next piece. A piece does
 * not end inside a huge page, because the kernel would split the huge page to
 * protect a part of it.
 */
static uint64_t piece_end(const struct early_copy *copy, const struct early_range *range,
			  uint64_t addr)
{
	uint64_t piece = copy->tracker.kind->piece_bytes;
	uint64_t end = (addr + piece) & ~(piece - 1);

	return end < range->end_addr ? end : range->end_addr;
}

static int copy_piece(struct early_copy *copy, const struct peek *peek,
		      const struct early_range *range, uint64_t addr, uint64_t *ret_pages)
{
	const struct write_tracker_kind *kind = copy->tracker.kind;
	const struct tracked_part part =
		make_part(peek->pagemap_fd, range, addr, piece_end(copy, range, addr));
	struct page_list list = PAGE_LIST_INIT;
	uint64_t written = 0;
	int r = kind->list(&copy->tracker, &part, &list);

	if (r == 0 && list.count > 0)
		r = copy_list(copy, peek, range, &list);
	if (r == 0 && kind->check)
		r = kind->check(&copy->tracker, &part, &written);
	*ret_pages += page_list_bytes(&list) / IMAGE_PAGE_BYTES;
	page_list_release(&list);
	return r;
}

/* Count the pages that were written since the first round. */
static int check_ranges(struct early_copy *copy, int pagemap_fd, uint64_t *ret_pages)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < copy->range_count; i++) {
		const struct tracked_part part =
			whole_range(pagemap_fd, &copy->ranges[i]);

		r = copy->tracker.kind->check(&copy->tracker, &part, ret_pages);
	}
	return r;
}

int early_copy_round(struct early_copy *copy, const struct peek *peek, uint64_t max_pages,
		     uint64_t *ret_pages)
{
	int r = 0;

	*ret_pages = 0;
	if (copy->round_count++ > 0 && copy->tracker.kind->has_one_round)
		return check_ranges(copy, peek->pagemap_fd, ret_pages);
	for (size_t i = 0; r == 0 && i < copy->range_count; i++) {
		const struct early_range *range = &copy->ranges[i];

		for (uint64_t addr = range->start_addr; r == 0 && addr < range->end_addr;
		     addr = piece_end(copy, range, addr)) {
			r = copy_piece(copy, peek, range, addr, ret_pages);
			if (r == 0 && copy->copied_pages > max_pages)
				r = -ENOMEM;
		}
	}
	return r;
}

static const struct early_range *find_range(const struct early_copy *copy, uint64_t addr)
{
	size_t i = SEARCH_FIRST(copy->range_count, k, copy->ranges[k].end_addr > addr);

	return i < copy->range_count ? &copy->ranges[i] : NULL;
}

/*
 * Return true if all pages of [start, end), which may be in several ranges, were copied.
 */
static bool are_copied(const struct early_copy *copy, uint64_t start, uint64_t end)
{
	const struct early_range *range = find_range(copy, start);

	for (uint64_t addr = start; addr < end; addr += IMAGE_PAGE_BYTES) {
		uint64_t page;

		if (range && addr >= range->end_addr)
			range = find_range(copy, addr);
		if (!range || addr < range->start_addr)
			return false;
		page = (range->offset_bytes + (addr - range->start_addr)) /
		       IMAGE_PAGE_BYTES;
		if (!(copy->copied[page / 64] & UINT64_C(1) << (page % 64)))
			return false;
	}
	return true;
}

static void list_all(struct early_copy *copy, const struct page_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		page_list_add(&copy->late, list->items[i].start_addr,
			      list->items[i].end_addr);
}

/*
 * Add all memory outside the tracked ranges to copy->late, the list of pages to copy
 * while the process is stopped, because no round has copied this memory.
 */
static void list_untracked(struct early_copy *copy)
{
	uint64_t addr = 0;

	for (size_t i = 0; i < copy->range_count; i++) {
		if (copy->ranges[i].start_addr > addr)
			page_list_add(&copy->late, addr, copy->ranges[i].start_addr);
		addr = copy->ranges[i].end_addr;
	}
	page_list_add(&copy->late, addr, UINT64_MAX & ~(IMAGE_PAGE_BYTES - 1));
}

/* Return true if each resident page was copied earlier or is in the list `late`. */
static bool is_covered(const struct early_copy *copy, const struct image *image)
{
	const struct page_list *late = &copy->late;
	size_t next = 0;

	for (size_t i = 0; i < image->run_count; i++) {
		uint64_t addr = image->runs[i].start_addr;
		uint64_t end = image->runs[i].end_addr;

		while (addr < end) {
			uint64_t stop = end;

			while (next < late->count && late->items[next].end_addr <= addr)
				next++;
			if (next < late->count && late->items[next].start_addr <= addr) {
				addr = late->items[next].end_addr;
				continue;
			}
			if (next < late->count && late->items[next].start_addr < end)
				stop = late->items[next].start_addr;
			if (!are_copied(copy, addr, stop))
				return false;
			addr = stop;
		}
	}
	return true;
}

int early_copy_select(struct early_copy *copy, int pagemap_fd, const struct image *image,
		      struct image *ret)
{
	int r = 0;

	copy->late.count = 0;
	for (size_t i = 0; r == 0 && i < copy->range_count; i++) {
		const struct tracked_part part =
			whole_range(pagemap_fd, &copy->ranges[i]);

		r = copy->tracker.kind->find(&copy->tracker, &part, &copy->late);
	}
	if (r < 0)
		return r;
	list_all(copy, &copy->unread);
	list_all(copy, &copy->stale);
	list_untracked(copy);
	if (early_copy_is_kept(copy))
		early_keep_list_missing(copy, image);
	page_list_sort(&copy->late);
	image_clear(ret);
	r = page_list_select(&copy->late, image, ret);
	copy->late_bytes = ret->length_bytes;
	return r;
}

void early_copy_end(struct early_copy *copy)
{
	struct write_tracker *tracker = &copy->tracker;

	if (tracker->fd < 0)
		return;
	for (size_t i = 0; tracker->kind->remove && i < copy->range_count; i++) {
		const struct tracked_part part = whole_range(-1, &copy->ranges[i]);

		tracker->kind->remove(tracker, &part);
	}
	close(tracker->fd);
	tracker->fd = -1;
}

/*
 * Copy the part of the run that is in the range from copy->store to the image. Release
 * this part of the store early, so that its pages do not occupy memory twice. *released
 * is the end of the released part.
 */
static void move_part(const struct early_copy *copy, const struct early_range *range,
		      const struct image *image, const struct image_run *run,
		      uint64_t *released)
{
	uint64_t start = run->start_addr > range->start_addr ? run->start_addr
							     : range->start_addr;
	uint64_t end = run->end_addr < range->end_addr ? run->end_addr : range->end_addr;
	uint64_t from = range->offset_bytes + (start - range->start_addr);
	uint64_t to = run->offset_bytes + (start - run->start_addr);

	for (uint64_t done = 0, length; done < end - start; done += length) {
		uint64_t dead;

		length = end - start - done < RELEASE_BYTES ? end - start - done
							    : RELEASE_BYTES;
		memcpy(image->bytes + to + done, copy->store.bytes + from + done, length);
		dead = (from + done + length) & ~(HUGE_PAGE_BYTES - 1);
		if (dead < *released + RELEASE_BYTES)
			continue;
		madvise(copy->store.bytes + *released, dead - *released, MADV_DONTNEED);
		*released = dead;
	}
}

static void move_copied(const struct early_copy *copy, const struct image *image)
{
	uint64_t released = 0;
	size_t next = 0;

	for (size_t i = 0; i < image->run_count; i++) {
		const struct image_run *run = &image->runs[i];

		while (next < copy->range_count &&
		       copy->ranges[next].end_addr <= run->start_addr)
			next++;
		for (size_t k = next;
		     k < copy->range_count && copy->ranges[k].start_addr < run->end_addr;
		     k++)
			move_part(copy, &copy->ranges[k], image, run, &released);
	}
}

/* Map memory for the image without faulting in its pages. */
static int map_image(struct image *image)
{
	int r;

	image->is_sparse = true;
	r = image_reserve(image, image->length_bytes);
	image->is_sparse = false;
	if (r == 0 && image->bytes)
		madvise(image->bytes, image->capacity_bytes, MADV_HUGEPAGE);
	return r;
}

int early_copy_finish(struct early_copy *copy, struct image *image,
		      const struct image *late)
{
	int r;

	if (early_copy_is_kept(copy))
		return early_keep_finish(copy, image, late);
	if (!is_covered(copy, image))
		return -ESTALE;
	r = map_image(image);
	if (r < 0)
		return r;
	move_copied(copy, image);
	image_release(&copy->store);
	r = image_merge(image, late);
	image->copied_bytes = image->length_bytes;
	return r;
}

void early_copy_release(struct early_copy *copy)
{
	early_copy_end(copy);
	free(copy->tracker.frames);
	free(copy->ranges);
	free(copy->copied);
	image_release(&copy->store);
	copy_layout_release(&copy->layout);
	page_list_release(&copy->unread);
	page_list_release(&copy->stale);
	page_list_release(&copy->late);
	page_list_release(&copy->huge);
	*copy = (struct early_copy)EARLY_COPY_INIT;
}
