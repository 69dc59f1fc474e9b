/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/lazy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/xalloc.h"
#include "proc/process/file.h"
#include "proc/process/own.h"
#include "tracee/memory/page_scan.h"

#ifndef UFFD_USER_MODE_ONLY
#	define UFFD_USER_MODE_ONLY 1
#endif

/*
 * Number of pages that are read together: the aligned block that contains the page, and
 * up to WINDOW_MAX pages if the accesses are sequential, even if each skips a few pages.
 * A page fault takes much longer than reading these pages, because two threads must wake
 * each other.
 */
#define WINDOW_MIN (LAZY_BLOCK_BYTES / IMAGE_PAGE_BYTES)
#define WINDOW_MAX 256

/*
 * The share of the accessed pages is checked when 1/CHECK_SHARE of the image was read,
 * and again after each further such part. A survey ends if more than 1/ACCESSED_SHARE of
 * the pages that were read were also accessed.
 */
#define CHECK_SHARE 8
#define ACCESSED_SHARE 3

/* Number of pagemap entries that are read together. */
#define ENTRIES 512

/*
 * Minimum size and maximum number of the mappings that map_zeros() creates. The kernel
 * limits the number of mappings of a process (vm.max_map_count).
 */
#define ZEROS_MIN_BYTES (UINT64_C(256) << 10)
#define ZEROS_MAX 16384

struct lazy {
	struct image *image;
	int mem_fd, fault_fd, end_fd, pagemap_fd;
	pthread_t thread;
	uint64_t page_max, page_count, next_check_count;
	bool ends_if_dense, is_full;
	uint64_t cpu_ns; /* CPU time of the thread that reads the pages */
	struct page_list missing;
	/*
	 * end of the pages that were read last, where a sequential access continues;
	 * number of pages to read together in that case
	 */
	uint64_t next_offset, window;
	uint8_t buffer[WINDOW_MAX * IMAGE_PAGE_BYTES];
};

/*
 * Find the first absent page of the image in [offset, end). Set *ret_end to the end of
 * the absent pages from there on, and return its offset; or return `end`.
 */
static uint64_t find_absent(const struct lazy *l, uint64_t offset, uint64_t end,
			    uint64_t *ret_end)
{
	off_t hole = lseek(l->image->fd, (off_t)offset, SEEK_HOLE);
	off_t data;

	*ret_end = end;
	if (hole < 0 || (uint64_t)hole >= end)
		return end;
	data = lseek(l->image->fd, hole, SEEK_DATA);
	if (data >= 0 && (uint64_t)data < end)
		*ret_end = (uint64_t)data;
	return (uint64_t)hole;
}

static bool write_image(const struct lazy *l, uint64_t offset, uint64_t length)
{
	return pwrite(l->image->fd, l->buffer, length, (off_t)offset) == (ssize_t)length;
}

/*
 * Read the absent pages at [offset, end) of the image from the target. Pages that are
 * present must not change, because the walkers have checked their contents.
 */
static void fill_pages(struct lazy *l, const struct image_run *run, uint64_t offset,
		       uint64_t end)
{
	uint64_t part_end;

	for (; l->mem_fd >= 0 && offset < end; offset = part_end) {
		ssize_t got;

		offset = find_absent(l, offset, end, &part_end);
		if (offset == end)
			break;
		got = pread(l->mem_fd, l->buffer, part_end - offset,
			    (off_t)(run->start_addr + (offset - run->offset_bytes)));
		if (got < (ssize_t)IMAGE_PAGE_BYTES)
			continue;
		got &= ~(ssize_t)(IMAGE_PAGE_BYTES - 1);
		if (!write_image(l, offset, (uint64_t)got))
			break;
		l->page_count += (uint64_t)got / IMAGE_PAGE_BYTES;
	}
}

static bool is_absent(const struct lazy *l, uint64_t offset)
{
	uint64_t end;

	return find_absent(l, offset, offset + IMAGE_PAGE_BYTES, &end) == offset;
}

static void stop_faults(struct lazy *l)
{
	struct uffdio_range all = { (uintptr_t)l->image->bytes,
				    l->image->capacity_bytes };

	ioctl(l->fault_fd, UFFDIO_UNREGISTER, &all);
	/*
	 * wake the thread that waits for a page: unregistering does not wake it if
	 * map_zeros() has replaced the memory there
	 */
	ioctl(l->fault_fd, UFFDIO_WAKE, &all);
}

static void wake(const struct lazy *l, uint64_t offset)
{
	struct uffdio_range page = { (uintptr_t)l->image->bytes + offset,
				     IMAGE_PAGE_BYTES };

	ioctl(l->fault_fd, UFFDIO_WAKE, &page);
}

/*
 * Call found(context, offset, length) once for each range of adjacent pages of the image
 * that are mapped, according to memstate's own pagemap. Return false if pagemap cannot be
 * read.
 */
static bool find_mapped(const struct lazy *l,
			void (*found)(void *context, uint64_t offset, uint64_t length),
			void *context)
{
	uint64_t first = (uintptr_t)l->image->bytes / IMAGE_PAGE_BYTES;
	uint64_t count = l->image->length_bytes / IMAGE_PAGE_BYTES;
	uint64_t entries[ENTRIES], start = 0, length = 0;

	for (uint64_t i = 0; i < count; i += ENTRIES) {
		uint64_t n = count - i < ENTRIES ? count - i : ENTRIES;

		if (pread(l->pagemap_fd, entries, n * sizeof(entries[0]),
			  (off_t)((first + i) * sizeof(entries[0]))) !=
		    (ssize_t)(n * sizeof(entries[0])))
			return false;
		for (uint64_t k = 0; k < n; k++) {
			if (entries[k] & PAGEMAP_PRESENT) {
				start = length ? start : i + k;
				length++;
			} else if (length) {
				found(context, start * IMAGE_PAGE_BYTES,
				      length * IMAGE_PAGE_BYTES);
				length = 0;
			}
		}
	}
	if (length)
		found(context, start * IMAGE_PAGE_BYTES, length * IMAGE_PAGE_BYTES);
	return true;
}

static void add_length(void *context, uint64_t offset, uint64_t length)
{
	(void)offset;
	*(uint64_t *)context += length;
}

/* Return true if watching should end, because too many pages were read or accessed. */
static bool is_too_much(struct lazy *l)
{
	uint64_t bytes = 0;

	if (l->page_count >= l->page_max)
		return true;
	if (!l->ends_if_dense || l->page_count < l->next_check_count)
		return false;
	l->next_check_count += l->image->length_bytes / IMAGE_PAGE_BYTES / CHECK_SHARE;
	return !find_mapped(l, add_length, &bytes) ||
	       bytes / IMAGE_PAGE_BYTES > l->page_count / ACCESSED_SHARE;
}

/*
 * Map anonymous memory over the large ranges of absent pages, because reading an absent
 * page of a file in memory would allocate it.
 */
static void map_zeros(const struct lazy *l)
{
	uint64_t offset = 0, capacity = l->image->capacity_bytes, end;
	size_t count = 0;

	while (count < ZEROS_MAX &&
	       (offset = find_absent(l, offset, capacity, &end)) < capacity) {
		if (end - offset >= ZEROS_MIN_BYTES) {
			if (mmap(l->image->bytes + offset, end - offset,
				 PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
				 -1, 0) == MAP_FAILED)
				return;
			count++;
		}
		offset = end;
	}
}

/* From now on, absent pages read as zeros. */
static void cut(struct lazy *l)
{
	l->is_full = true;
	__atomic_store_n(&l->image->is_cut, true, __ATOMIC_RELAXED);
	map_zeros(l);
	stop_faults(l);
}

static void handle_fault(struct lazy *l, uint64_t fault_addr)
{
	uint64_t offset = (fault_addr - (uintptr_t)l->image->bytes) &
			  ~(IMAGE_PAGE_BYTES - 1);
	const struct image_run *run;
	uint64_t addr, run_end, before, end;
	bool is_next;

	if (offset >= l->image->length_bytes || is_too_much(l)) {
		cut(l);
		return;
	}
	run = image_run_with_offset(l->image, offset);
	run_end = run->offset_bytes + (run->end_addr - run->start_addr);
	addr = run->start_addr + (offset - run->offset_bytes);
	is_next = offset >= l->next_offset && offset - l->next_offset < LAZY_BLOCK_BYTES;
	l->window = is_next ? l->window * 2 : WINDOW_MIN;
	if (l->window > WINDOW_MAX)
		l->window = WINDOW_MAX;
	before = is_next ? 0 : addr % LAZY_BLOCK_BYTES;
	if (before > offset - run->offset_bytes)
		before = offset - run->offset_bytes;
	/*
	 * after a random access, read only the block that contains the page, because
	 * l->missing lists only one page of the block
	 */
	end = is_next ? offset + l->window * IMAGE_PAGE_BYTES
		      : offset + LAZY_BLOCK_BYTES - addr % LAZY_BLOCK_BYTES;
	if (end > run_end)
		end = run_end;
	fill_pages(l, run, offset - before, end);
	/* an unreadable page before this one may have prevented it from being read */
	if (is_absent(l, offset))
		fill_pages(l, run, offset, end);
	if (is_absent(l, offset)) {
		memset(l->buffer, 0, IMAGE_PAGE_BYTES);
		if (!write_image(l, offset, IMAGE_PAGE_BYTES)) {
			cut(l);
			return;
		}
		l->page_count++;
	}
	l->next_offset = end;
	page_list_add(&l->missing, addr,
		      addr + (is_next ? end - offset : IMAGE_PAGE_BYTES));
	wake(l, offset);
}

static void *serve(void *context)
{
	struct lazy *l = context;
	struct pollfd fds[] = { { .fd = l->fault_fd, .events = POLLIN },
				{ .fd = l->end_fd, .events = POLLIN } };
	struct uffd_msg message;

	while (poll(fds, 2, -1) >= 0 || errno == EINTR) {
		if (read(l->fault_fd, &message, sizeof(message)) == sizeof(message) &&
		    message.event == UFFD_EVENT_PAGEFAULT)
			handle_fault(l, message.arg.pagefault.address);
		else if (fds[1].revents)
			break;
	}
	l->cpu_ns = clock_thread_cpu_ns();
	return NULL;
}

static int register_image(int fault_fd, const struct image *image)
{
	/*
	 * The mode WP makes the kernel map a single page on each access. No page is
	 * write-protected.
	 */
	struct uffdio_register all = {
		.range = { (uintptr_t)image->bytes, image->capacity_bytes },
		.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP,
	};

	if (ioctl(fault_fd, UFFDIO_REGISTER, &all) == 0)
		return 0;
	all.mode = UFFDIO_REGISTER_MODE_MISSING;
	return ioctl(fault_fd, UFFDIO_REGISTER, &all) < 0 ? -errno : 0;
}

static int open_fault_fd(const struct image *image, int *ret)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd = (int)syscall(SYS_userfaultfd,
			      O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	int r;

	if (fd < 0)
		return -errno;
	r = ioctl(fd, UFFDIO_API, &api) < 0 ? -errno : register_image(fd, image);
	if (r < 0)
		close(fd);
	else
		*ret = fd;
	return r;
}

static void release(struct lazy *l)
{
	if (l->fault_fd >= 0)
		close(l->fault_fd);
	if (l->end_fd >= 0)
		close(l->end_fd);
	if (l->pagemap_fd >= 0)
		close(l->pagemap_fd);
	page_list_release(&l->missing);
	free(l);
}

static bool can_read_pagemap(void)
{
	int fd = proc_own_open(PROC_PAGEMAP, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool lazy_is_possible(void)
{
	struct rlimit limit;

	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 0 &&
	       getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY &&
	       own_may_overcommit() && !own_may_write_huge_pages() && can_read_pagemap();
}

int lazy_start(struct image *image, int mem_fd, uint64_t page_max, bool ends_if_dense,
	       struct lazy **ret)
{
	struct lazy *l;
	int r;

	if (!lazy_is_possible())
		return -EPERM;
	if (!image->has_file || !image->bytes)
		return -EINVAL;
	l = xcalloc(1, sizeof(*l));
	l->image = image;
	l->mem_fd = mem_fd;
	l->fault_fd = -1;
	l->end_fd = eventfd(0, EFD_CLOEXEC);
	l->pagemap_fd = proc_own_open(PROC_PAGEMAP, O_RDONLY | O_CLOEXEC);
	l->page_max = page_max;
	l->ends_if_dense = ends_if_dense;
	l->next_check_count = image->length_bytes / IMAGE_PAGE_BYTES / CHECK_SHARE;
	l->next_offset = UINT64_MAX;
	l->window = 1;
	r = l->end_fd < 0 ? -errno : l->pagemap_fd;
	if (r >= 0)
		r = open_fault_fd(image, &l->fault_fd);
	if (r == 0)
		r = thread_start(&l->thread, serve, l);
	if (r < 0) {
		release(l);
		return r;
	}
	*ret = l;
	return 0;
}

struct accessed {
	const struct image *image;
	struct page_list *list;
};

static void add_accessed(void *context, uint64_t offset, uint64_t length)
{
	const struct accessed *to = context;

	while (length > 0) {
		const struct image_run *run = image_run_with_offset(to->image, offset);
		uint64_t addr = run->start_addr + (offset - run->offset_bytes);
		uint64_t part = run->end_addr - addr < length ? run->end_addr - addr
							      : length;

		page_list_add(to->list, addr, addr + part);
		offset += part;
		length -= part;
	}
}

bool lazy_stop(struct lazy *l, struct page_list *ret_accessed,
	       struct page_list *ret_missing, uint64_t *cpu_ns)
{
	struct accessed accessed = { l->image, ret_accessed };
	bool is_complete;

	eventfd_write(l->end_fd, 1);
	pthread_join(l->thread, NULL);
	*cpu_ns += l->cpu_ns;
	is_complete = !l->is_full &&
		      (!ret_accessed || find_mapped(l, add_accessed, &accessed));
	for (size_t i = 0; ret_missing && i < l->missing.count; i++)
		page_list_add(ret_missing, l->missing.items[i].start_addr,
			      l->missing.items[i].end_addr);
	release(l);
	return is_complete;
}
