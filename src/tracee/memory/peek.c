/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/peek.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "tracee/memory/page_scan.h"

/*
 * Maximum size of one copy: small enough to check the deadline often, large enough to
 * make the checks negligible.
 */
#define COPY_BYTES (UINT64_C(4) << 20)
#define COPY_RUNS 512

/*
 * Minimum number of bytes per copying thread; starting a thread is not worthwhile for
 * fewer bytes.
 */
#define PART_MIN_BYTES (UINT64_C(8) << 20)

static int check_time(const struct peek *peek)
{
	return peek->deadline_ns && clock_now_ns() > peek->deadline_ns ? -ETIMEDOUT : 0;
}

/* The progress in copying the pages below end_addr. */
struct progress {
	uint64_t end_addr;
	/* all pages below this address were copied or need not be copied */
	uint64_t addr;
	size_t run; /* index of the run (range of pages) in which to continue */
	/* remaining ranges, without those that end before the current run */
	const struct peek_range *ranges;
	size_t range_count;
	uint64_t copied_bytes;
};

/* Adjacent pages to copy. */
struct piece {
	const struct image_run *run;
	uint64_t addr, length, offset;
};

/* Find the next pages to copy. Return false if all pages were copied. */
static bool find_piece(struct progress *at, const struct image *image, struct piece *ret)
{
	for (; at->run < image->run_count; at->run++) {
		const struct image_run *run = &image->runs[at->run];
		uint64_t start = run->start_addr > at->addr ? run->start_addr : at->addr;
		uint64_t end = run->end_addr < at->end_addr ? run->end_addr
							    : at->end_addr;

		if (start >= at->end_addr)
			return false;
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
 * Return true if the run overlaps a range whose pages may be shared. Callers must pass
 * the runs in ascending order of address.
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

static int copy_some(const struct peek *peek, const struct image *image,
		     struct progress *at)
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
	/* a negative result, from a failed read, never equals length */
	if ((uint64_t)got == length) {
		*at = next;
		at->copied_bytes += length;
		return 0;
	}
	if (!peek->is_running)
		return -ESTALE;
	/*
	 * The pages before the first absent page were copied. Fill the absent page with
	 * zeros, and continue after it.
	 */
	length = got > 0 ? (uint64_t)got & ~(IMAGE_PAGE_BYTES - 1) : 0;
	at->copied_bytes += length;
	advance(at, image, length);
	if (find_piece(at, image, &piece)) {
		memset(image->bytes + piece.offset, 0, IMAGE_PAGE_BYTES);
		if (peek->unread)
			page_list_add(peek->unread, piece.addr,
				      piece.addr + IMAGE_PAGE_BYTES);
	}
	advance(at, image, IMAGE_PAGE_BYTES);
	return 0;
}

/* The part of a copy for which one thread is responsible. */
struct part {
	const struct peek *peek;
	const struct image *image;
	struct progress at;
	pthread_t thread;
	bool has_thread;
	int result;
};

static void *copy_part(void *context)
{
	struct part *part = context;
	struct piece piece;

	while (part->result == 0 && find_piece(&part->at, part->image, &piece)) {
		part->result = check_time(part->peek);
		if (part->result == 0)
			part->result = copy_some(part->peek, part->image, &part->at);
	}
	return NULL;
}

static uint64_t addr_at_offset(const struct image *image, uint64_t offset)
{
	const struct image_run *run = image_run_with_offset(image, offset);

	return run->start_addr + (offset - run->offset_bytes);
}

/* Split the image into parts of equal size, and copy each part in its own thread. */
static int copy_parts(const struct progress *all, struct image *image, struct part *parts,
		      size_t count)
{
	uint64_t part_bytes = image->length_bytes / count & ~(IMAGE_PAGE_BYTES - 1);
	int r = 0;

	for (size_t i = 0; i < count; i++) {
		struct progress *at = &parts[i].at;

		*at = *all;
		if (i > 0)
			at->addr = addr_at_offset(image, i * part_bytes);
		if (i + 1 < count)
			at->end_addr = addr_at_offset(image, (i + 1) * part_bytes);
		at->run = image_find_run(image, at->addr);
		/*
		 * this thread copies the first part, and the parts for which no thread
		 * could be started
		 */
		parts[i].has_thread = i > 0 && thread_start(&parts[i].thread, copy_part,
							    &parts[i]) == 0;
	}
	for (size_t i = 0; i < count; i++)
		if (!parts[i].has_thread)
			copy_part(&parts[i]);
	for (size_t i = 0; i < count; i++) {
		if (parts[i].has_thread)
			pthread_join(parts[i].thread, NULL);
		image->copied_bytes += parts[i].at.copied_bytes;
		if (r == 0)
			r = parts[i].result;
	}
	return r;
}

int peek_copy(const struct peek *peek, const struct peek_range *ranges, size_t count,
	      struct image *image)
{
	struct progress all = {
		.end_addr = UINT64_MAX,
		.ranges = ranges,
		.range_count = count,
	};
	struct part parts[PEEK_THREADS_MAX];
	uint64_t part_count = image->length_bytes / PART_MIN_BYTES;
	int r = image_reserve(image, image->length_bytes);

	image->copied_bytes = 0;
	if (r < 0)
		return r;
	if (part_count > peek->thread_count)
		part_count = peek->thread_count;
	if (part_count > PEEK_THREADS_MAX)
		part_count = PEEK_THREADS_MAX;
	if (part_count < 1)
		part_count = 1;
	for (size_t i = 0; i < part_count; i++)
		parts[i] = (struct part){ .peek = peek, .image = image };
	return copy_parts(&all, image, parts, part_count);
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
