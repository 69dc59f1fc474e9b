/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write_tracker - the interface through which early_copy determines which pages a running
 * process has written. There are two implementations: write_track (userfaultfd) and
 * soft_dirty (/proc/PID/clear_refs).
 *
 * Functions return 0 or -errno.
 */
#ifndef MS_TRACEE_MEMORY_WRITE_TRACKER_H
#define MS_TRACEE_MEMORY_WRITE_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

#include "tracee/memory/page_list.h"

struct write_tracker;

/* A part of the tracked memory. */
struct tracked_part {
	int pagemap_fd; /* the process's /proc/PID/pagemap */
	uint64_t start_addr, end_addr;
	/*
	 * Number of the part's first page. Each page of the tracked memory has its own
	 * number, below the page_count that is passed to begin().
	 */
	uint64_t first_page;
};

struct write_tracker_kind {
	/* true if the process's writes split huge pages */
	bool splits_huge_pages;
	/*
	 * true if there is only one round: memstate copies all pages once, and copies
	 * those written since then again while the process is stopped
	 */
	bool has_one_round;
	/*
	 * Number of bytes to list and copy at a time, a power of two. The smaller this
	 * number, the fewer pages are written between being listed and being copied.
	 */
	uint64_t piece_bytes;
	/*
	 * Begin to track a part. Append to *ret the pages whose writes cannot be tracked.
	 * Return -EINVAL if the part is not mapped; the caller then leaves it out.
	 */
	int (*add)(struct write_tracker *tracker, const struct tracked_part *part,
		   struct page_list *ret);
	/* Begin the first round. Add all parts before this call. */
	int (*begin)(struct write_tracker *tracker, uint64_t page_count);
	/*
	 * Append the pages to be copied in this round. In the first round, these are all
	 * resident pages; in the next rounds, those written since they were last listed.
	 */
	int (*list)(struct write_tracker *tracker, const struct tracked_part *part,
		    struct page_list *ret);
	/*
	 * Check a part again after its listed pages were copied. Add the number
	 * of pages written since the first round to *ret_pages. NULL if the
	 * tracker needs no check.
	 */
	int (*check)(struct write_tracker *tracker, const struct tracked_part *part,
		     uint64_t *ret_pages);
	/*
	 * Append all pages whose contents may have changed since they were last listed.
	 * Pages that are not resident may be included. The process must be stopped.
	 */
	int (*find)(struct write_tracker *tracker, const struct tracked_part *part,
		    struct page_list *ret);
	/*
	 * Stop tracking a part, while the process is running. NULL if the tracker need
	 * not do anything.
	 */
	void (*remove)(struct write_tracker *tracker, const struct tracked_part *part);
};

struct write_tracker {
	const struct write_tracker_kind *kind;
	int fd;		   /* owned; -1 if closed */
	uint64_t *frames;  /* used by soft_dirty */
	uint64_t stall_ns; /* time for which begin() blocked page faults of the process */
};

#endif
