/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/xalloc.h"
#include "tracee/memory/page_scan.h"
#include "tracee/memory/peek.h"

#define PAGEMAP_ENTRIES 2048

/*
 * Minimum amount of memory per searching thread; starting a thread is not worthwhile for
 * less.
 */
#define PART_MIN_BYTES (UINT64_C(256) << 20)

static int check_time(const struct peek *peek)
{
	return peek->deadline_ns && clock_now_ns() > peek->deadline_ns ? -ETIMEDOUT : 0;
}

/* Add resident pages to the image, and count them. */
static int add_pages(struct peek_range *range, struct image *image, uint64_t start_addr,
		     uint64_t end_addr)
{
	range->resident_bytes += end_addr - start_addr;
	return image_add_run(image, start_addr, end_addr);
}

static int scan_range(const struct peek *peek, struct peek_range *range,
		      struct image *image)
{
	/* initialized because valgrind does not know that the kernel fills the array */
	struct scan_region regions[SCAN_REGIONS] = { 0 };
	struct scan_arg arg = {
		.size = sizeof(arg),
		.start = range->start_addr,
		.end = range->end_addr,
		.vec = (uintptr_t)regions,
		.vec_len = SCAN_REGIONS,
		.category_inverted = SCAN_PFNZERO,
		.category_mask = SCAN_PFNZERO,
		.category_anyof_mask = SCAN_PRESENT | SCAN_SWAPPED,
		.return_mask = SCAN_PRESENT | SCAN_SWAPPED,
	};

	if (range->is_anonymous_only) {
		arg.category_inverted |= SCAN_FILE;
		arg.category_mask |= SCAN_FILE;
	}
	while (arg.start < arg.end) {
		int count = ioctl(peek->pagemap_fd, SCAN_IOCTL, &arg);
		int r = check_time(peek);

		if (count < 0)
			return -errno;
		for (int i = 0; r == 0 && i < count; i++)
			if (regions[i].categories & SCAN_PRESENT)
				r = add_pages(range, image, regions[i].start,
					      regions[i].end);
			else
				range->swapped_bytes += regions[i].end - regions[i].start;
		if (r < 0)
			return r;
		if (arg.walk_end <= arg.start)
			break;
		arg.start = arg.walk_end;
	}
	return 0;
}

/*
 * Return true if the pagemap entry may describe the shared zero page. The entry looks
 * like one of an anonymous page that other processes also map; only the page's contents
 * identify the zero page.
 */
static bool may_be_zero_page(uint64_t entry)
{
	return !(entry & (PAGEMAP_FILE | PAGEMAP_EXCLUSIVE));
}

static bool is_zero_page(const struct peek *peek, uint64_t addr)
{
	static const uint8_t zeros[IMAGE_PAGE_BYTES];
	uint8_t page[IMAGE_PAGE_BYTES];

	return pread(peek->mem_fd, page, sizeof(page), (off_t)addr) ==
		       (ssize_t)sizeof(page) &&
	       memcmp(page, zeros, sizeof(page)) == 0;
}

static int read_pagemap(const struct peek *peek, struct peek_range *range,
			struct image *image)
{
	uint64_t entries[PAGEMAP_ENTRIES];

	for (uint64_t addr = range->start_addr; addr < range->end_addr;) {
		uint64_t pages = (range->end_addr - addr) / IMAGE_PAGE_BYTES;
		size_t want = pages < PAGEMAP_ENTRIES ? (size_t)pages : PAGEMAP_ENTRIES;
		ssize_t got =
			pread(peek->pagemap_fd, entries, want * sizeof(entries[0]),
			      (off_t)(addr / IMAGE_PAGE_BYTES * sizeof(entries[0])));
		int r = check_time(peek);

		if (got < (ssize_t)sizeof(entries[0]))
			return got < 0 ? -errno : -ESRCH;
		for (ssize_t i = 0; r == 0 && i < got / (ssize_t)sizeof(entries[0]);
		     i++) {
			if (entries[i] & PAGEMAP_PRESENT &&
			    !(range->is_anonymous_only && entries[i] & PAGEMAP_FILE) &&
			    !(may_be_zero_page(entries[i]) && is_zero_page(peek, addr)))
				r = add_pages(range, image, addr,
					      addr + IMAGE_PAGE_BYTES);
			if (entries[i] & PAGEMAP_SWAPPED)
				range->swapped_bytes += IMAGE_PAGE_BYTES;
			addr += IMAGE_PAGE_BYTES;
		}
		if (r < 0)
			return r;
	}
	return 0;
}

static int find_ranges(const struct peek *peek, struct peek_range *ranges, size_t count,
		       struct image *image)
{
	bool has_scan = !peek->no_scan;

	for (size_t i = 0; i < count; i++) {
		int r;

		ranges[i].resident_bytes = ranges[i].swapped_bytes = 0;
		r = has_scan ? scan_range(peek, &ranges[i], image) : -ENOTTY;

		if (r == -ENOTTY) {
			has_scan = false;
			r = read_pagemap(peek, &ranges[i], image);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

/* The part of the memory that one thread searches. */
struct part {
	const struct peek *peek;
	struct peek_range *ranges;
	/* for each range of the part, the index of the caller's range that contains it */
	size_t *origins;
	size_t count;
	struct image image;
	pthread_t thread;
	bool has_thread;
	int result;
};

static void *find_part(void *context)
{
	struct part *part = context;

	part->result = find_ranges(part->peek, part->ranges, part->count, &part->image);
	return NULL;
}

/*
 * Assign the memory from offset `start` to `end` to *part. The offsets count the bytes of
 * all ranges, as if the ranges were adjacent.
 */
static void cut_part(struct part *part, const struct peek_range *ranges, size_t count,
		     uint64_t start, uint64_t end)
{
	uint64_t at = 0;

	part->ranges = xcalloc(count, sizeof(*part->ranges));
	part->origins = xcalloc(count, sizeof(*part->origins));
	for (size_t i = 0; i < count; i++) {
		uint64_t length = ranges[i].end_addr - ranges[i].start_addr;
		uint64_t skipped = start > at ? start - at : 0;
		uint64_t kept = end > at ? end - at : 0;

		at += length;
		if (skipped >= length || kept <= skipped)
			continue;
		part->origins[part->count] = i;
		part->ranges[part->count] = ranges[i];
		part->ranges[part->count].start_addr += skipped;
		if (kept < length)
			part->ranges[part->count].end_addr = ranges[i].start_addr + kept;
		part->count++;
	}
}

/*
 * Add the pages that a part's search has found to the image, and their sizes to the
 * ranges. Free the part.
 */
static int add_part(struct part *part, struct peek_range *ranges, struct image *image)
{
	int r = part->result;

	for (size_t i = 0; r == 0 && i < part->image.run_count; i++)
		r = image_add_run(image, part->image.runs[i].start_addr,
				  part->image.runs[i].end_addr);
	for (size_t i = 0; i < part->count; i++) {
		struct peek_range *range = &ranges[part->origins[i]];

		range->resident_bytes += part->ranges[i].resident_bytes;
		range->swapped_bytes += part->ranges[i].swapped_bytes;
	}
	image_release(&part->image);
	free(part->ranges);
	free(part->origins);
	return r;
}

static int find_parts(const struct peek *peek, struct peek_range *ranges, size_t count,
		      struct image *image, uint64_t bytes, size_t part_count)
{
	struct part parts[PEEK_THREADS_MAX];
	uint64_t share = bytes / part_count & ~(IMAGE_PAGE_BYTES - 1);
	int r = 0;

	for (size_t i = 0; i < part_count; i++) {
		parts[i] = (struct part){ .peek = peek };
		cut_part(&parts[i], ranges, count, i * share,
			 i + 1 < part_count ? (i + 1) * share : bytes);
		/*
		 * this thread searches the first part, and the parts for which no thread
		 * could be started
		 */
		parts[i].has_thread = i > 0 && thread_start(&parts[i].thread, find_part,
							    &parts[i]) == 0;
	}
	for (size_t i = 0; i < part_count; i++)
		if (!parts[i].has_thread)
			find_part(&parts[i]);
	for (size_t i = 0; i < count; i++)
		ranges[i].resident_bytes = ranges[i].swapped_bytes = 0;
	for (size_t i = 0; i < part_count; i++) {
		int error;

		if (parts[i].has_thread)
			pthread_join(parts[i].thread, NULL);
		error = add_part(&parts[i], ranges, image);
		r = r < 0 ? r : error;
	}
	return r;
}

int peek_find(const struct peek *peek, struct peek_range *ranges, size_t count,
	      struct image *image)
{
	uint64_t bytes = 0, part_count;

	for (size_t i = 0; i < count; i++)
		bytes += ranges[i].end_addr - ranges[i].start_addr;
	part_count = bytes / PART_MIN_BYTES;
	if (part_count > peek->thread_count)
		part_count = peek->thread_count;
	if (part_count > PEEK_THREADS_MAX)
		part_count = PEEK_THREADS_MAX;
	return part_count > 1
		       ? find_parts(peek, ranges, count, image, bytes, (size_t)part_count)
		       : find_ranges(peek, ranges, count, image);
}
