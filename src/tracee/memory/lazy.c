/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/lazy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/xalloc.h"

#ifndef UFFD_USER_MODE_ONLY
#	define UFFD_USER_MODE_ONLY 1
#endif

/*
 * Number of pages that are read together: the aligned block that contains the page, and
 * up to WINDOW_MAX pages if the accesses are sequential. A page fault takes much longer
 * than reading these pages, because two threads must wake each other.
 */
#define WINDOW_MIN (LAZY_BLOCK_BYTES / IMAGE_PAGE_BYTES)
#define WINDOW_MAX 64

struct lazy {
	struct image *image;
	int mem_fd, fault_fd, end_fd;
	pthread_t thread;
	uint64_t page_max, page_count;
	bool is_full;
	uint64_t cpu_ns; /* CPU time of the thread that reads the pages */
	struct page_list pages;
	/*
	 * offset of the next access if the accesses are sequential; number of pages to
	 * read together in that case
	 */
	uint64_t next_offset, window;
	uint8_t buffer[WINDOW_MAX * IMAGE_PAGE_BYTES];
};

static bool fill_with_zeros(const struct lazy *l, uint64_t offset, uint64_t length)
{
	struct uffdio_zeropage zeros = {
		.range = { (uintptr_t)l->image->bytes + offset, length },
	};

	return ioctl(l->fault_fd, UFFDIO_ZEROPAGE, &zeros) == 0;
}

/*
 * Read the pages of the target at addr into the image at this offset. Return the number
 * of bytes that were filled, or 0.
 */
static uint64_t fill_from_target(struct lazy *l, uint64_t offset, uint64_t addr,
				 uint64_t length)
{
	ssize_t got = pread(l->mem_fd, l->buffer, length, (off_t)addr);
	struct uffdio_copy copy = {
		.dst = (uintptr_t)l->image->bytes + offset,
		.src = (uintptr_t)l->buffer,
	};

	if (got < (ssize_t)IMAGE_PAGE_BYTES)
		return 0;
	copy.len = (uint64_t)got & ~(IMAGE_PAGE_BYTES - 1);
	if (ioctl(l->fault_fd, UFFDIO_COPY, &copy) == 0)
		return copy.len;
	/*
	 * if a page of the range is already present, the kernel fills only
	 * the pages before it
	 */
	return copy.copy > 0 ? (uint64_t)copy.copy : 0;
}

/*
 * Read up to `length` bytes of the target from start_addr, an address in the run (range
 * of pages). Return the number of bytes that were filled, or 0.
 */
static uint64_t fill_pages(struct lazy *l, const struct image_run *run,
			   uint64_t start_addr, uint64_t length)
{
	uint64_t room = run->end_addr - start_addr;

	if (l->mem_fd < 0)
		return 0;
	return fill_from_target(l, run->offset_bytes + (start_addr - run->start_addr),
				start_addr, length < room ? length : room);
}

static void stop_faults(struct lazy *l)
{
	struct uffdio_range all = { (uintptr_t)l->image->bytes,
				    l->image->capacity_bytes };

	/* unregistering the memory also wakes the thread that waits for a page */
	ioctl(l->fault_fd, UFFDIO_UNREGISTER, &all);
}

static void handle_fault(struct lazy *l, uint64_t fault_addr)
{
	uint64_t offset = (fault_addr - (uintptr_t)l->image->bytes) &
			  ~(IMAGE_PAGE_BYTES - 1);
	const struct image_run *run;
	uint64_t length, addr, start_addr;
	bool is_next;

	if (offset >= l->image->length_bytes) {
		stop_faults(l);
		return;
	}
	run = image_run_with_offset(l->image, offset);
	addr = run->start_addr + (offset - run->offset_bytes);
	if (l->page_count >= l->page_max) {
		l->is_full = true;
		stop_faults(l);
		return;
	}
	is_next = l->next_offset == offset;
	l->window = is_next ? l->window * 2 : WINDOW_MIN;
	if (l->window > WINDOW_MAX)
		l->window = WINDOW_MAX;
	start_addr = is_next ? addr : addr & ~(LAZY_BLOCK_BYTES - 1);
	if (start_addr < run->start_addr)
		start_addr = run->start_addr;
	/*
	 * after a random access, read only the block that contains the page, because
	 * l->pages lists only one page of the block
	 */
	length = is_next ? l->window * IMAGE_PAGE_BYTES
			 : LAZY_BLOCK_BYTES - start_addr % LAZY_BLOCK_BYTES;
	length = fill_pages(l, run, start_addr, length);
	/*
	 * the page at addr was not filled, probably because a page before it
	 * is already present
	 */
	if (length <= addr - start_addr) {
		l->page_count += length / IMAGE_PAGE_BYTES;
		start_addr = addr;
		length = fill_pages(l, run, addr,
				    LAZY_BLOCK_BYTES - addr % LAZY_BLOCK_BYTES);
	}
	if (length == 0 && fill_with_zeros(l, offset, IMAGE_PAGE_BYTES))
		length = IMAGE_PAGE_BYTES;
	if (length == 0) {
		l->is_full = true;
		stop_faults(l);
		return;
	}
	l->page_count += length / IMAGE_PAGE_BYTES;
	l->next_offset = offset + (start_addr + length - addr);
	page_list_add(&l->pages, addr, addr + (is_next ? length : IMAGE_PAGE_BYTES));
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

static int open_fault_fd(const struct image *image, int *ret)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register all = {
		.range = { (uintptr_t)image->bytes, image->capacity_bytes },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = (int)syscall(SYS_userfaultfd,
			      O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	int r;

	if (fd < 0)
		return -errno;
	r = ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &all) < 0
		    ? -errno
		    : 0;
	if (r < 0)
		close(fd);
	*ret = fd;
	return r;
}

static void release(struct lazy *l)
{
	if (l->fault_fd >= 0)
		close(l->fault_fd);
	if (l->end_fd >= 0)
		close(l->end_fd);
	page_list_release(&l->pages);
	free(l);
}

int lazy_start(struct image *image, int mem_fd, uint64_t page_max, struct lazy **ret)
{
	struct lazy *l;
	int r;

	/* a seccomp filter may kill memstate because of an unexpected system call */
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0)
		return -EPERM;
	l = xcalloc(1, sizeof(*l));
	l->image = image;
	l->mem_fd = mem_fd;
	l->end_fd = eventfd(0, EFD_CLOEXEC);
	l->page_max = page_max;
	l->next_offset = UINT64_MAX;
	l->window = 1;
	r = l->end_fd < 0 ? -errno : open_fault_fd(image, &l->fault_fd);
	if (r < 0)
		l->fault_fd = -1;
	else
		r = thread_start(&l->thread, serve, l);
	if (r < 0) {
		release(l);
		return r;
	}
	*ret = l;
	return 0;
}

bool lazy_stop(struct lazy *l, struct page_list *ret, uint64_t *cpu_ns)
{
	bool is_full;

	eventfd_write(l->end_fd, 1);
	pthread_join(l->thread, NULL);
	is_full = l->is_full;
	*cpu_ns += l->cpu_ns;
	for (size_t i = 0; i < l->pages.count; i++)
		page_list_add(ret, l->pages.items[i].start_addr,
			      l->pages.items[i].end_addr);
	release(l);
	return !is_full;
}
