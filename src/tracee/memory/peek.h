/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peek - copy many resident pages of another process. Only resident pages are read:
 * reading any other page would fault it in, from a file or from swap. A page is resident
 * if smaps counts it as Rss; the shared zero page is not resident.
 */
#ifndef MS_TRACEE_MEMORY_PEEK_H
#define MS_TRACEE_MEMORY_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/image.h"
#include "tracee/memory/page_list.h"

struct peek_range {
	uint64_t start_addr, end_addr; /* a range of whole, readable pages */
	/*
	 * Pages may be shared after a fork, or by KSM. Such ranges are read through
	 * /proc/PID/mem, which is slower than process_vm_readv(2). The latter pins pages,
	 * which since Linux 5.19 unshares them: the target would get its own copy of
	 * each page.
	 */
	bool is_shared;
	/*
	 * Copy only pages that are no longer backed by the mapped file. Pages of the file
	 * may be evicted at any time, and a read of an absent page waits for the
	 * file system.
	 */
	bool is_anonymous_only;
};

struct peek {
	int pid;
	int pagemap_fd; /* the target's /proc/PID/pagemap */
	int mem_fd;	/* the target's /proc/PID/mem */
	/* deadline for the copy on the monotonic clock, or 0 for no limit */
	uint64_t deadline_ns;
	/*
	 * the target runs during the copy; pages that disappear before they are read
	 * are copied as zeros
	 */
	bool is_running;
	/*
	 * NULL: copy all pages. Otherwise the image is sparse, and only the resident
	 * pages in this sorted list are copied. The image's runs contain all resident
	 * pages in either case.
	 */
	const struct page_list *only;
	/* behave as on a kernel before Linux 6.7, which has no PAGEMAP_SCAN */
	bool no_scan;
};

/*
 * Copy the resident pages of the ranges into an empty image. The ranges are sorted by
 * address. Memory that the image has reserved is used first. Return 0, -ETIMEDOUT,
 * -ENOMEM, -ESRCH, -EPERM, or -ESTALE if the memory changed during the copy.
 */
int peek_copy(const struct peek *peek, const struct peek_range *ranges, size_t count,
	      struct image *image);

enum page_presence {
	PAGE_ABSENT, /* the page was never touched, was released, or is not mapped */
	PAGE_RESIDENT,
	/*
	 * the shared zero page: the page was read, but never written, and is not part
	 * of Rss
	 */
	PAGE_ZEROS,
	PAGE_SWAPPED,
};

/*
 * Store in *ret the current state of the page at addr. Before Linux 6.7, the shared zero
 * page counts as resident. Return 0 or -errno.
 */
int peek_page(int pagemap_fd, uint64_t addr, enum page_presence *ret);

#endif
