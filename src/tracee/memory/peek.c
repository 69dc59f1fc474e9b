/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/peek.h"

#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"

/*
 * Definitions from include/uapi/linux/fs.h of Linux 6.7. The names differ from the
 * kernel's, because installed headers may or may not contain the original definitions.
 */
struct scan_region {
	__u64 start, end, categories;
};

struct scan_arg {
	__u64 size, flags, start, end, walk_end;
	__u64 vec, vec_len, max_pages;
	__u64 category_inverted, category_mask, category_anyof_mask, return_mask;
};

#define SCAN_IOCTL _IOWR('f', 16, struct scan_arg)
#define SCAN_PRESENT (1 << 3)
#define SCAN_FILE (1 << 2)
#define SCAN_PFNZERO (1 << 5)

#define SCAN_REGIONS 512

/* Bits of a pagemap entry. Source: Documentation/admin-guide/mm/pagemap.rst. */
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_SWAPPED (UINT64_C(1) << 62)
#define PAGEMAP_FILE (UINT64_C(1) << 61)
#define PAGEMAP_EXCLUSIVE (UINT64_C(1) << 56)

#define PAGEMAP_ENTRIES 2048

/*
 * Maximum size of one copy: small enough to check the deadline often, large enough to
 * make the checks negligible.
 */
#define COPY_BYTES (UINT64_C(4) << 20)
#define COPY_RUNS 512

static int check_time(const struct peek *peek)
{
	return peek->deadline_ns && clock_now_ns() > peek->deadline_ns ? -ETIMEDOUT : 0;
}

static int scan_range(const struct peek *peek, const struct peek_range *range,
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
		.category_mask = SCAN_PRESENT | SCAN_PFNZERO,
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
			r = image_add_run(image, regions[i].start, regions[i].end);
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

static int read_pagemap(const struct peek *peek, const struct peek_range *range,
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
				r = image_add_run(image, addr, addr + IMAGE_PAGE_BYTES);
			addr += IMAGE_PAGE_BYTES;
		}
		if (r < 0)
			return r;
	}
	return 0;
}

static int find_pages(const struct peek *peek, const struct peek_range *ranges,
		      size_t count, struct image *image)
{
	bool has_scan = !peek->no_scan;

	for (size_t i = 0; i < count; i++) {
		int r = has_scan ? scan_range(peek, &ranges[i], image) : -ENOTTY;

		if (r == -ENOTTY) {
			has_scan = false;
			r = read_pagemap(peek, &ranges[i], image);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

/* Progress of the copy. */
struct progress {
	uint64_t addr; /* all pages below were copied or need not be copied */
	size_t run;    /* index of the first run that does not end below addr */
	/* ranges still to be copied; those that end before the current run are skipped */
	const struct peek_range *ranges;
	size_t range_count;
	/* the list of pages, without those that end below addr; NULL: copy all pages */
	const struct page_range *only;
	size_t only_count;
};

/* Adjacent pages to copy. */
struct piece {
	const struct image_run *run;
	uint64_t addr, length, offset;
};

/* Find the next pages to copy. Returns false if there are none. */
static bool find_piece(struct progress *at, const struct image *image, struct piece *ret)
{
	for (; at->run < image->run_count; at->run++) {
		const struct image_run *run = &image->runs[at->run];
		uint64_t start = run->start_addr > at->addr ? run->start_addr : at->addr;
		uint64_t end = run->end_addr;

		while (at->only && at->only_count > 0 && at->only->end_addr <= start) {
			at->only++;
			at->only_count--;
		}
		if (at->only && at->only_count == 0)
			return false;
		if (at->only && at->only->start_addr > start)
			start = at->only->start_addr;
		if (at->only && at->only->end_addr < end)
			end = at->only->end_addr;
		if (start >= end)
			continue;
		*ret = (struct piece){ run, start, end - start,
				       run->offset_bytes + (start - run->start_addr) };
		return true;
	}
	return false;
}

static void advance(struct progress *at, const struct image *image, uint64_t bytes)
{
	struct piece piece;

	while (bytes > 0 && find_piece(at, image, &piece)) {
		uint64_t length = piece.length < bytes ? piece.length : bytes;

		at->addr = piece.addr + length;
		bytes -= length;
	}
}

/*
 * Return true if a range of shared pages overlaps the run. Callers pass the runs in order
 * of address.
 */
static bool is_shared(struct progress *at, const struct image_run *run)
{
	while (at->range_count > 0 && at->ranges->end_addr <= run->start_addr) {
		at->ranges++;
		at->range_count--;
	}
	for (size_t i = 0;
	     i < at->range_count && at->ranges[i].start_addr < run->end_addr; i++)
		if (at->ranges[i].is_shared)
			return true;
	return false;
}

/*
 * Like process_vm_readv(2), but read through /proc/PID/mem, which does not
 * unshare shared pages.
 */
static ssize_t read_mem(const struct peek *peek, const struct iovec *to,
			const struct iovec *from, int count)
{
	ssize_t sum = 0;

	for (int i = 0; i < count; i++) {
		ssize_t got = pread(peek->mem_fd, to[i].iov_base, from[i].iov_len,
				    (off_t)(uintptr_t)from[i].iov_base);

		/* /proc/PID/mem reports an absent page as EIO */
		if (got < 0 && errno == EIO)
			errno = EFAULT;
		if (got > 0)
			sum += got;
		if (got != (ssize_t)from[i].iov_len)
			return sum > 0 ? sum : got;
	}
	return sum;
}

static int copy_some(const struct peek *peek, struct image *image, struct progress *at)
{
	struct iovec from[COPY_RUNS], to[COPY_RUNS];
	struct progress next = *at;
	struct piece piece;
	uint64_t length = 0;
	bool by_mem = false;
	int count = 0;
	ssize_t got;

	while (count < COPY_RUNS && length < COPY_BYTES &&
	       find_piece(&next, image, &piece)) {
		bool is_by_mem = is_shared(&next, piece.run);

		if (count > 0 && is_by_mem != by_mem)
			break;
		by_mem = is_by_mem;
		if (piece.length > COPY_BYTES - length)
			piece.length = COPY_BYTES - length;
		from[count].iov_base = (void *)(uintptr_t)piece.addr;
		to[count].iov_base = image->bytes + piece.offset;
		from[count].iov_len = to[count].iov_len = piece.length;
		count++;
		length += piece.length;
		next.addr = piece.addr + piece.length;
	}
	got = by_mem ? read_mem(peek, to, from, count)
		     : process_vm_readv(peek->pid, to, (unsigned long)count, from,
					(unsigned long)count, 0);
	if (got < 0 && errno != EFAULT)
		return -errno;
	/* if the read failed and its result is negative, the comparison is false */
	if ((uint64_t)got == length) {
		image->copied_bytes += length;
		*at = next;
		return 0;
	}
	if (!peek->is_running)
		return -ESTALE;
	/*
	 * all pages before the first absent page were copied: fill the absent page with
	 * zeros, and skip it
	 */
	length = got > 0 ? (uint64_t)got & ~(IMAGE_PAGE_BYTES - 1) : 0;
	image->copied_bytes += length;
	advance(at, image, length);
	if (find_piece(at, image, &piece))
		memset(image->bytes + piece.offset, 0, IMAGE_PAGE_BYTES);
	advance(at, image, IMAGE_PAGE_BYTES);
	return 0;
}

int peek_copy(const struct peek *peek, const struct peek_range *ranges, size_t count,
	      struct image *image)
{
	struct progress at = { .ranges = ranges, .range_count = count };
	struct piece piece;
	int r;

	if (peek->only) {
		at.only = peek->only->items;
		at.only_count = peek->only->count;
	}
	image->copied_bytes = 0;
	r = find_pages(peek, ranges, count, image);
	if (r == 0)
		r = image_reserve(image, image->length_bytes);
	while (r == 0 && !(peek->only && peek->only->count == 0) &&
	       find_piece(&at, image, &piece)) {
		r = check_time(peek);
		if (r == 0)
			r = copy_some(peek, image, &at);
	}
	return r;
}

static bool is_page_of_zeros(int pagemap_fd, uint64_t page_addr)
{
	struct scan_region region = { 0, 0, 0 };
	struct scan_arg arg = {
		.size = sizeof(arg),
		.start = page_addr,
		.end = page_addr + IMAGE_PAGE_BYTES,
		.vec = (uintptr_t)&region,
		.vec_len = 1,
		.category_mask = SCAN_PRESENT | SCAN_PFNZERO,
	};

	return ioctl(pagemap_fd, SCAN_IOCTL, &arg) == 1;
}

int peek_page(int pagemap_fd, uint64_t addr, enum page_presence *ret)
{
	uint64_t page = addr / IMAGE_PAGE_BYTES;
	uint64_t entry;
	ssize_t got =
		pread(pagemap_fd, &entry, sizeof(entry), (off_t)(page * sizeof(entry)));

	if (got != sizeof(entry))
		return got < 0 ? -errno : -ESRCH;
	if (entry & PAGEMAP_PRESENT)
		*ret = is_page_of_zeros(pagemap_fd, page * IMAGE_PAGE_BYTES)
			       ? PAGE_ZEROS
			       : PAGE_RESIDENT;
	else
		*ret = entry & PAGEMAP_SWAPPED ? PAGE_SWAPPED : PAGE_ABSENT;
	return 0;
}
