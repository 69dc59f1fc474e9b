/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * early_copy - copy the memory of a process while the process runs, in rounds: each round
 * copies the pages that were written since the previous one (write_tracker). After the
 * last round, memstate stops the process and copies only the pages written since. The
 * result is the memory of the stopped process, or an error.
 */
#ifndef MS_TRACEE_MEMORY_EARLY_COPY_H
#define MS_TRACEE_MEMORY_EARLY_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/image.h"
#include "tracee/memory/copy_layout.h"
#include "tracee/memory/page_list.h"
#include "tracee/memory/peek.h"
#include "tracee/memory/write_tracker.h"

struct early_range {
	uint64_t start_addr, end_addr;
	bool is_shared; /* true if the pages may be shared; see struct peek_range */
	/*
	 * true if most pages are resident; the store then uses huge pages for the range
	 */
	bool wants_huge;
	/* true if the range was already tracked when its mapping was read */
	bool is_tracked;
	uint64_t offset_bytes; /* offset of the range's first byte in store.bytes */
};

struct early_copy {
	struct write_tracker tracker; /* owned */
	unsigned int round_count;
	/* tracked ranges, sorted by address */
	struct early_range *ranges;
	size_t range_count;
	/*
	 * The copied pages. Each byte of the ranges has its own offset, so that pages can
	 * be added and released in any order. Pages that were not copied take no memory.
	 */
	struct image store;
	/* bit table of the copied pages: one bit per page of the store */
	uint64_t *copied;
	uint64_t copied_pages;
	/*
	 * Pages to copy while the process is stopped, even if they were not written,
	 * because memstate could not read them before: for example, the process had made
	 * them unreadable.
	 */
	struct page_list unread;
	/*
	 * pages whose writes cannot be tracked, because they look protected but may be
	 * writable; copied while the process is stopped
	 */
	struct page_list stale;
	/*
	 * offsets in `store` if the copy may be kept for later reads; empty if the copy
	 * is used only once
	 */
	struct copy_layout layout;
	/* pages to copy while the process is stopped, as found by early_copy_select() */
	struct page_list late;
	uint64_t late_bytes; /* number of resident bytes in `late` */
	/* pages that were mapped as parts of huge pages before the first round */
	struct page_list huge;
};

#define EARLY_COPY_INIT          \
	{                        \
		.tracker.fd = -1 \
	}

/*
 * Begin to track the writes to these ranges, which are sorted by address. Ranges that no
 * longer exist are left out. Take ownership of the tracker, even on failure. The caller
 * initializes *copy with EARLY_COPY_INIT. To keep the copy for later reads (early_keep),
 * the caller must also set copy->layout to a layout that contains the ranges, and pass a
 * tracker from write_track. Return 0, -EBUSY, -ENOMEM or another -errno; the caller calls
 * early_copy_release() in every case.
 */
int early_copy_begin(struct early_copy *copy, const struct write_tracker *tracker,
		     int pagemap_fd, const struct early_range *ranges, size_t count);

/*
 * Copy the pages that were written since the previous round; in the first round, all
 * resident pages. *ret_pages is the number of these pages. Return -ENOMEM if all rounds
 * together have found more than max_pages different pages. Other errors are those of
 * peek_copy() and of the tracker. If the tracker has only one round, later rounds copy
 * nothing: *ret_pages is the number of pages that a pause would have to copy.
 */
int early_copy_round(struct early_copy *copy, const struct peek *peek, uint64_t max_pages,
		     uint64_t *ret_pages);

/*
 * Select the pages that must be copied in the pause, and make *ret an image of only these
 * pages. The process must be stopped, and `image` must be the image of all its resident
 * pages from peek_find(). Return 0 or -errno.
 */
int early_copy_select(struct early_copy *copy, int pagemap_fd, const struct image *image,
		      struct image *ret);

/* Stop tracking the writes. Call this function while the process is running. */
void early_copy_end(struct early_copy *copy);

/*
 * Fill *image, which describes all resident pages but has no memory yet, with the pages
 * copied early and those copied during the stop. The latter are in `late`, the image from
 * early_copy_select(). copy->store is empty afterwards. Return 0; -ESTALE if a resident
 * page was not copied; or another -errno.
 */
int early_copy_finish(struct early_copy *copy, struct image *image,
		      const struct image *late);

void early_copy_release(struct early_copy *copy);

#endif
