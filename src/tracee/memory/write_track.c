/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/write_track.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "tracee/memory/page_scan.h"

#ifndef UFFD_USER_MODE_ONLY
#	define UFFD_USER_MODE_ONLY 1
#endif
#ifndef UFFD_FEATURE_WP_ASYNC
#	define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif

/*
 * Amount of memory to list and protect in one step, so that the kernel holds the lock of
 * a page table only briefly.
 */
#define PIECE_BYTES (UINT64_C(64) << 20)

/* Amount of memory to unregister in one step, which takes about a millisecond. */
#define UNREGISTER_BYTES (UINT64_C(16) << 20)

/*
 * Pause between two steps of unregistering. A step blocks page faults of the process,
 * which can proceed during the pause.
 */
#define UNREGISTER_PAUSE_NS (100 * NS_PER_US)

static int prepare(int fault_fd)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_WP_ASYNC | UFFD_FEATURE_PAGEFAULT_FLAG_WP,
	};

	return ioctl(fault_fd, UFFDIO_API, &api) < 0 ? -errno : 0;
}

bool write_track_is_supported(void)
{
	int fd = (int)syscall(SYS_userfaultfd,
			      O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	int r = fd < 0 ? -errno : prepare(fd);

	if (fd >= 0)
		close(fd);
	return r == 0;
}

int write_track_register(int fault_fd, uint64_t start_addr, uint64_t end_addr)
{
	struct uffdio_register request = {
		.range = { start_addr, end_addr - start_addr },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};

	return ioctl(fault_fd, UFFDIO_REGISTER, &request) < 0 ? -errno : 0;
}

static int scan(int pagemap_fd, struct scan_arg arg, struct page_list *ret)
{
	/* initialized because valgrind does not know that the kernel fills the array */
	struct scan_region regions[SCAN_REGIONS] = { 0 };

	arg.size = sizeof(arg);
	arg.vec = (uintptr_t)regions;
	arg.vec_len = SCAN_REGIONS;
	while (arg.start < arg.end) {
		int count = ioctl(pagemap_fd, SCAN_IOCTL, &arg);

		if (count < 0)
			return -errno;
		for (int i = 0; i < count; i++)
			page_list_add(ret, regions[i].start, regions[i].end);
		if (arg.walk_end <= arg.start)
			break;
		arg.start = arg.walk_end;
	}
	return 0;
}

int write_track_find_stale(int pagemap_fd, uint64_t start_addr, uint64_t end_addr,
			   struct page_list *ret)
{
	struct scan_arg arg = {
		.start = start_addr,
		.end = end_addr,
		.category_inverted = SCAN_WRITTEN,
		.category_mask = SCAN_WRITTEN | SCAN_PRESENT,
		.return_mask = SCAN_PRESENT,
	};

	return scan(pagemap_fd, arg, ret);
}

int write_track_protect(int pagemap_fd, uint64_t start_addr, uint64_t end_addr,
			struct page_list *ret)
{
	/*
	 * Protect only present pages, because protecting absent pages would make the
	 * kernel allocate page tables.
	 */
	struct scan_arg arg = {
		.flags = SCAN_FLAG_PROTECT,
		.start = start_addr,
		.end = end_addr,
		.category_mask = SCAN_WRITTEN | SCAN_PRESENT,
		.return_mask = SCAN_WRITTEN,
	};

	return scan(pagemap_fd, arg, ret);
}

int write_track_find(int pagemap_fd, uint64_t start_addr, uint64_t end_addr,
		     struct page_list *ret)
{
	/* the kernel has a fast path for a request with exactly these masks */
	struct scan_arg written = {
		.start = start_addr,
		.end = end_addr,
		.category_mask = SCAN_WRITTEN,
		.return_mask = SCAN_WRITTEN,
	};
	/*
	 * Also find the pages of memory that is not registered, because the kernel does
	 * not record writes there. Before Linux 6.13, mremap(2) could move protected
	 * pages to such memory, and they remained protected.
	 */
	struct scan_arg unregistered = {
		.start = start_addr,
		.end = end_addr,
		.category_inverted = SCAN_WPALLOWED,
		.category_mask = SCAN_WPALLOWED | SCAN_PRESENT,
		.return_mask = SCAN_PRESENT,
	};
	int r = scan(pagemap_fd, written, ret);

	return r < 0 ? r : scan(pagemap_fd, unregistered, ret);
}

int write_track_find_huge(int pagemap_fd, uint64_t start_addr, uint64_t end_addr,
			  struct page_list *ret)
{
	struct scan_arg arg = {
		.start = start_addr,
		.end = end_addr,
		.category_mask = SCAN_HUGE | SCAN_PRESENT,
		.return_mask = SCAN_HUGE,
	};

	return scan(pagemap_fd, arg, ret);
}

void write_track_unregister(int fault_fd, uint64_t start_addr, uint64_t end_addr)
{
	const struct timespec pause = { .tv_nsec = (long)UNREGISTER_PAUSE_NS };

	for (uint64_t addr = start_addr, next; addr < end_addr; addr = next) {
		struct uffdio_range range;

		/*
		 * a step must not end inside a huge page, because the kernel would then
		 * split the huge page
		 */
		next = (addr + UNREGISTER_BYTES) & ~(UNREGISTER_BYTES - 1);
		if (next > end_addr)
			next = end_addr;
		range = (struct uffdio_range){ addr, next - addr };
		if (addr > start_addr)
			nanosleep(&pause, NULL);
		(void)ioctl(fault_fd, UFFDIO_UNREGISTER, &range);
	}
}

static int add(struct write_tracker *tracker, const struct tracked_part *part,
	       struct page_list *ret)
{
	int r = write_track_register(tracker->fd, part->start_addr, part->end_addr);

	return r < 0 ? r
		     : write_track_find_stale(part->pagemap_fd, part->start_addr,
					      part->end_addr, ret);
}

static int begin(struct write_tracker *tracker, uint64_t page_count)
{
	(void)tracker;
	(void)page_count;
	return 0;
}

static int list(struct write_tracker *tracker, const struct tracked_part *part,
		struct page_list *ret)
{
	(void)tracker;
	return write_track_protect(part->pagemap_fd, part->start_addr, part->end_addr,
				   ret);
}

static int find(struct write_tracker *tracker, const struct tracked_part *part,
		struct page_list *ret)
{
	(void)tracker;
	return write_track_find(part->pagemap_fd, part->start_addr, part->end_addr, ret);
}

static void remove_part(struct write_tracker *tracker, const struct tracked_part *part)
{
	write_track_unregister(tracker->fd, part->start_addr, part->end_addr);
}

static const struct write_tracker_kind kind = {
	.splits_huge_pages = true,
	.piece_bytes = PIECE_BYTES,
	.add = add,
	.begin = begin,
	.list = list,
	.find = find,
	.remove = remove_part,
};

int write_track_open(struct write_tracker *ret, int fault_fd)
{
	*ret = (struct write_tracker){ .kind = &kind, .fd = fault_fd };
	return prepare(fault_fd);
}
