/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/search.h"
#include "base/xalloc.h"

#define HUGE_PAGE_BYTES (UINT64_C(2) << 20)

#ifndef MFD_NOEXEC_SEAL
#	define MFD_NOEXEC_SEAL 8U
#endif

static void release_memory(struct image *image)
{
	if (image->bytes)
		munmap(image->bytes, image->capacity_bytes);
	if (image->has_file)
		close(image->fd);
	image->bytes = NULL;
	image->capacity_bytes = 0;
	image->has_file = false;
	image->fd = -1;
	image->is_cut = false;
}

void image_release(struct image *image)
{
	release_memory(image);
	free(image->runs);
	*image = (struct image)IMAGE_INIT;
}

void image_clear(struct image *image)
{
	image->length_bytes = 0;
	image->run_count = 0;
	image->hint = 0;
}

static void touch(struct image *image, uint64_t from_bytes)
{
	for (uint64_t at = from_bytes; at < image->capacity_bytes; at += IMAGE_PAGE_BYTES)
		*(volatile uint8_t *)&image->bytes[at] = 0;
}

/* Release the pages of the image's file. Return false if the kernel cannot do it. */
static bool drop_file_pages(struct image *image)
{
	return image->capacity_bytes == 0 ||
	       fallocate(image->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			 (off_t)image->capacity_bytes) == 0;
}

void image_drop_pages(struct image *image)
{
	if (image->has_file)
		drop_file_pages(image);
	else if (image->bytes)
		madvise(image->bytes, image->capacity_bytes, MADV_DONTNEED);
}

/* Create a file in memory, which cannot be executed on Linux 6.3 and later. */
static int create_file(void)
{
	int fd = memfd_create("memstate image", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	return fd >= 0 || errno != EINVAL ? fd
					  : memfd_create("memstate image", MFD_CLOEXEC);
}

int image_make_watchable(struct image *image)
{
	image_clear(image);
	if (image->has_file && !image->is_cut && drop_file_pages(image))
		return 0;
	image->is_sparse = false;
	release_memory(image);
	image->fd = create_file();
	if (image->fd < 0)
		return -errno;
	image->has_file = true;
	image->is_sparse = true;
	return 0;
}

void image_make_sparse(struct image *image)
{
	image_clear(image);
	if (image->has_file)
		release_memory(image);
	image->is_sparse = true;
	/* a huge page would also take memory for pages that memstate does not copy */
	if (image->bytes)
		madvise(image->bytes, image->capacity_bytes, MADV_NOHUGEPAGE);
	image_drop_pages(image);
}

int image_reserve(struct image *image, uint64_t bytes)
{
	uint64_t capacity = (bytes + HUGE_PAGE_BYTES) & ~(HUGE_PAGE_BYTES - 1);
	uint64_t had_bytes = image->capacity_bytes;
	void *map;

	if (bytes <= image->capacity_bytes)
		return 0;
	if (bytes > SIZE_MAX / 2)
		return -ENOMEM;
	if (image->has_file && ftruncate(image->fd, (off_t)capacity) < 0)
		return -ENOMEM;
	map = image->bytes
		      ? mremap(image->bytes, image->capacity_bytes, capacity,
			       MREMAP_MAYMOVE)
		      : mmap(NULL, capacity, PROT_READ | PROT_WRITE,
			     image->has_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS,
			     image->has_file ? image->fd : -1, 0);
	if (map == MAP_FAILED)
		return -ENOMEM;
	image->bytes = map;
	image->capacity_bytes = capacity;
	madvise(image->bytes, capacity,
		image->is_sparse ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
	/*
	 * Exclude the image from child processes that memstate forks later, such as the
	 * watchdog. Otherwise they would keep its pages in memory.
	 */
	madvise(image->bytes, capacity, MADV_DONTFORK);
	if (!image->is_sparse)
		touch(image, had_bytes);
	return 0;
}

int image_add_run(struct image *image, uint64_t start_addr, uint64_t end_addr)
{
	struct image_run *last = image->run_count ? &image->runs[image->run_count - 1]
						  : NULL;

	if (start_addr >= end_addr || (start_addr | end_addr) & (IMAGE_PAGE_BYTES - 1) ||
	    (last && start_addr < last->end_addr))
		return -EINVAL;
	if (last && last->end_addr == start_addr) {
		last->end_addr = end_addr;
	} else {
		image->runs = xgrow(image->runs, &image->run_capacity,
				    image->run_count + 1, sizeof(*image->runs));
		image->runs[image->run_count++] =
			(struct image_run){ start_addr, end_addr, image->length_bytes };
	}
	image->length_bytes += end_addr - start_addr;
	return 0;
}

size_t image_find_run(const struct image *image, uint64_t addr)
{
	return SEARCH_FIRST(image->run_count, i, image->runs[i].end_addr > addr);
}

const struct image_run *image_run_with_offset(const struct image *image, uint64_t offset)
{
	size_t next =
		SEARCH_FIRST(image->run_count, i, image->runs[i].offset_bytes > offset);

	return &image->runs[next - 1];
}

int image_merge(struct image *image, const struct image *part)
{
	int r = image_reserve(image, image->length_bytes);
	size_t next = 0;

	if (r < 0)
		return r;
	for (size_t i = 0; i < part->run_count; i++) {
		const struct image_run *run = &part->runs[i], *to;

		while (image->runs[next].end_addr <= run->start_addr)
			next++;
		to = &image->runs[next];
		memcpy(image->bytes + to->offset_bytes +
			       (run->start_addr - to->start_addr),
		       part->bytes + run->offset_bytes, run->end_addr - run->start_addr);
	}
	image->copied_bytes = part->copied_bytes;
	return 0;
}

/* Return true if addr is in the gap before the run of pages with the given index. */
static bool is_before_run(const struct image *image, size_t index, uint64_t addr)
{
	return index < image->run_count && addr < image->runs[index].start_addr &&
	       (index == 0 || addr >= image->runs[index - 1].end_addr);
}

const struct image_run *image_search_run(struct image *image, uint64_t addr)
{
	if (is_before_run(image, image->hint, addr))
		return NULL;
	image->hint = image_find_run(image, addr);
	return image->hint < image->run_count &&
			       addr >= image->runs[image->hint].start_addr
		       ? &image->runs[image->hint]
		       : NULL;
}

uint64_t image_search_resident(struct image *image, uint64_t addr, uint64_t limit)
{
	const struct image_run *run = image_search_run(image, addr);

	if (run)
		return addr;
	/*
	 * image_search_run() has set image->hint to the first run that ends after addr.
	 */
	if (image->hint == image->run_count)
		return limit;
	run = &image->runs[image->hint];
	return run->start_addr < limit ? run->start_addr : limit;
}

uint64_t image_resident_bytes(const struct image *image, uint64_t start_addr,
			      uint64_t end_addr)
{
	uint64_t sum = 0;

	for (size_t i = image_find_run(image, start_addr);
	     i < image->run_count && image->runs[i].start_addr < end_addr; i++) {
		const struct image_run *run = &image->runs[i];
		uint64_t start = run->start_addr > start_addr ? run->start_addr
							      : start_addr;
		uint64_t end = run->end_addr < end_addr ? run->end_addr : end_addr;

		sum += end - start;
	}
	return sum;
}
