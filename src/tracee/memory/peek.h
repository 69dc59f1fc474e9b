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

/*
 * Maximum number of threads that find or copy pages. More threads would hardly be faster,
 * because they share the memory bandwidth.
 */
#define PEEK_THREADS_MAX 4

struct peek_range {
	uint64_t start_addr, end_addr; /* a range of whole, readable pages */
	/*
	 * True if pages may be shared, after a fork or by KSM. Such ranges are read
	 * through /proc/PID/mem, which is slower than process_vm_readv(2). The latter
	 * pins pages, which since Linux 5.19 unshares them: the target would get its own
	 * copy of each page.
	 */
	bool is_shared;
	/*
	 * True to copy only pages that are no longer backed by the mapped file. Pages of
	 * the file may be evicted at any time, and a read of an absent page waits for the
	 * file system.
	 */
	bool is_anonymous_only;
	/*
	 * Total size of the range's resident pages that are to be copied, and of its
	 * pages that are swapped out or being migrated. Set by peek_find().
	 */
	uint64_t resident_bytes, swapped_bytes;
};

struct peek {
	int pid;
	int pagemap_fd; /* the target's /proc/PID/pagemap */
	int mem_fd;	/* the target's /proc/PID/mem */
	/* deadline for the copy on the monotonic clock, or 0 for no limit */
	uint64_t deadline_ns;
	/*
	 * true if the target runs during the copy; pages that disappear before they are
	 * read are copied as zeros
	 */
	bool is_running;
	/*
	 * List to which a copy of a running target adds the pages that it could not read,
	 * or NULL. With a list, only one thread may make the copy.
	 */
	struct page_list *unread;
	/*
	 * maximum number of threads that find or copy pages at the same time, at most
	 * PEEK_THREADS_MAX; 0 means 1
	 */
	unsigned int thread_count;
	/* true to behave as on a kernel before Linux 6.7, which has no PAGEMAP_SCAN */
	bool no_scan;
};

/*
 * Find the resident pages of the ranges, which are sorted by address, and add them to an
 * empty image, whose bytes remain undefined. Return 0, -ETIMEDOUT, -ENOMEM or another
 * -errno.
 */
int peek_find(const struct peek *peek, struct peek_range *ranges, size_t count,
	      struct image *image);

/*
 * Copy the pages of the image, all of which peek_find() must have found in these ranges.
 * If the image already has reserved memory, use this memory first. Return 0, -ETIMEDOUT,
 * -ENOMEM, -ESRCH, -EPERM, or -ESTALE if the memory has changed since peek_find().
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
