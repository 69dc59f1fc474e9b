/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peek - copy the resident pages of another process, in bulk.
 *
 * Only resident pages are read: a read of any other page would fault it in,
 * from a file or from swap. A page is resident if smaps counts it as Rss; the
 * shared zero page is not.
 */
#ifndef MS_TRACEE_MEMORY_PEEK_H
#define MS_TRACEE_MEMORY_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/image.h"

struct peek_range {
	uint64_t start_addr, end_addr; /* page aligned, readable */
	/*
	 * Pages may be shared after a fork, or by KSM. process_vm_readv(2) pins pages,
	 * which since Linux 5.19 unshares them: the target would get its own copy of
	 * each. Such ranges are read through /proc/PID/mem, which is slower.
	 */
	bool is_shared;
	/*
	 * Copy only pages that no longer belong to the file. Pages of the file may vanish
	 * at any time, and a read of an absent one waits for its file system.
	 */
	bool is_anonymous_only;
};

struct peek {
	int pid;
	int pagemap_fd;	      /* its /proc/PID/pagemap */
	int mem_fd;	      /* its /proc/PID/mem */
	uint64_t deadline_ns; /* monotonic clock; 0: none */
	/* the target runs; a page that vanishes before the copy becomes zeros */
	bool is_running;
	bool no_scan; /* act as a kernel without PAGEMAP_SCAN (before Linux 6.7) */
};

/*
 * Copy the resident pages of the ranges into an image without runs. The ranges are sorted
 * by address. Memory that the image has reserved is used first. Return 0, -ETIMEDOUT,
 * -ENOMEM, -ESRCH, -EPERM, or -ESTALE if the memory changed during the copy.
 */
int peek_copy(const struct peek *peek, const struct peek_range *ranges, size_t count,
	      struct image *image);

enum page_presence {
	PAGE_ABSENT, /* never touched, released, or not mapped */
	PAGE_RESIDENT,
	PAGE_ZEROS, /* the shared zero page: read, never written; not part of Rss */
	PAGE_SWAPPED,
};

/*
 * Store in *ret the present state of the page at addr. Before Linux 6.7, the shared zero
 * page counts as resident. Return 0 or -errno.
 */
int peek_page(int pagemap_fd, uint64_t addr, enum page_presence *ret);

#endif
