/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/soft_dirty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "proc/process/file.h"
#include "tracee/memory/page_scan.h"

#define PAGEMAP_ENTRIES 2048

/*
 * Size of the pieces in which memory is listed, copied and checked. A piece takes so
 * little time that a process can move its page table away and back with mremap(2) in the
 * meantime only if it does nothing else.
 */
#define PIECE_BYTES (UINT64_C(256) << 10)

/*
 * For each page, the tracker stores the number of the page frame that the page had when
 * it was listed, or 0 if the page must be copied while the process is stopped.
 * SEEN_WRITTEN is also set if the tracker has seen that the page was written.
 */
#define SEEN_WRITTEN (UINT64_C(1) << 63)

/*
 * Maximum number of attempts to test the soft-dirty bits. An attempt may fail if another
 * thread of memstate creates a mapping in the meantime.
 */
#define TEST_TRIES 3

/* A function that is called for each page of a part. Return 0 or -errno. */
typedef int visit_fn(uint64_t *frame, uint64_t entry, uint64_t addr, void *context);

static int visit_pages(const struct write_tracker *tracker,
		       const struct tracked_part *part, visit_fn *visit, void *context)
{
	/* initialized because valgrind does not know that the kernel fills the array */
	uint64_t entries[PAGEMAP_ENTRIES] = { 0 };
	uint64_t *frame = &tracker->frames[part->first_page];

	for (uint64_t addr = part->start_addr; addr < part->end_addr;) {
		uint64_t pages = (part->end_addr - addr) / IMAGE_PAGE_BYTES;
		size_t want = pages < PAGEMAP_ENTRIES ? (size_t)pages : PAGEMAP_ENTRIES;
		ssize_t got =
			pread(part->pagemap_fd, entries, want * sizeof(entries[0]),
			      (off_t)(addr / IMAGE_PAGE_BYTES * sizeof(entries[0])));

		if (got < (ssize_t)sizeof(entries[0]))
			return got < 0 ? -errno : -ESRCH;
		for (size_t i = 0; i < (size_t)got / sizeof(entries[0]); i++) {
			int r = visit(frame++, entries[i], addr, context);

			if (r < 0)
				return r;
			addr += IMAGE_PAGE_BYTES;
		}
	}
	return 0;
}

static int write_clear(int clear_fd)
{
	return write(clear_fd, "4", 1) == 1 ? 0 : -errno;
}

static int read_entry(int pagemap_fd, const void *page, uint64_t *ret)
{
	off_t at = (off_t)((uintptr_t)page / IMAGE_PAGE_BYTES * sizeof(*ret));

	return pread(pagemap_fd, ret, sizeof(*ret), at) == sizeof(*ret) ? 0 : -EIO;
}

/*
 * Check that clear_refs clears the soft-dirty bit of a page, and that a write sets the
 * bit again. Return 0; -EOPNOTSUPP if not; -EPERM if the kernel hides page frame numbers;
 * or another -errno.
 */
static int test_page(int clear_fd, int pagemap_fd, volatile uint8_t *page)
{
	uint64_t cleared = 0, written = 0;
	int r;

	*page = 1;
	r = write_clear(clear_fd);
	if (r == 0)
		r = read_entry(pagemap_fd, (const void *)page, &cleared);
	*page = 2;
	if (r == 0)
		r = read_entry(pagemap_fd, (const void *)page, &written);
	if (r < 0)
		return r;
	if (!(cleared & PAGEMAP_PRESENT) || cleared & PAGEMAP_SOFT_DIRTY ||
	    !(written & PAGEMAP_SOFT_DIRTY))
		return -EOPNOTSUPP;
	return written & PAGEMAP_FRAME ? 0 : -EPERM;
}

int soft_dirty_check_support(void)
{
	_cleanup_close_ int clear_fd =
		proc_own_open(PROC_CLEAR_REFS, O_WRONLY | O_CLOEXEC);
	_cleanup_close_ int pagemap_fd =
		proc_own_open(PROC_PAGEMAP, O_RDONLY | O_CLOEXEC);
	int r = -EOPNOTSUPP;
	void *page;

	if (clear_fd < 0 || pagemap_fd < 0)
		return clear_fd < 0 ? clear_fd : pagemap_fd;
	page = mmap(NULL, IMAGE_PAGE_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return -errno;
	for (int i = 0; r == -EOPNOTSUPP && i < TEST_TRIES; i++)
		r = test_page(clear_fd, pagemap_fd, page);
	munmap(page, IMAGE_PAGE_BYTES);
	return r;
}

static int add(struct write_tracker *tracker, const struct tracked_part *part,
	       struct page_list *ret)
{
	(void)tracker;
	(void)part;
	(void)ret;
	return 0;
}

static int begin(struct write_tracker *tracker, uint64_t page_count)
{
	uint64_t began_ns = clock_now_ns();
	int r;

	tracker->frames = xcalloc(page_count + 1, sizeof(*tracker->frames));
	r = write_clear(tracker->fd);
	tracker->stall_ns = clock_now_ns() - began_ns;
	return r;
}

static void add_page(struct page_list *list, uint64_t addr)
{
	if (list->count > 0 && list->items[list->count - 1].end_addr == addr)
		list->items[list->count - 1].end_addr += IMAGE_PAGE_BYTES;
	else
		page_list_add(list, addr, addr + IMAGE_PAGE_BYTES);
}

static int list_page(uint64_t *frame, uint64_t entry, uint64_t addr, void *context)
{
	if (entry & PAGEMAP_PRESENT) {
		*frame = entry & PAGEMAP_FRAME;
		add_page(context, addr);
	}
	return 0;
}

static int list(struct write_tracker *tracker, const struct tracked_part *part,
		struct page_list *ret)
{
	return visit_pages(tracker, part, list_page, ret);
}

/*
 * Return 0 if the page's soft-dirty bit is set, or if the page no longer has the page
 * frame that it had when it was listed. Otherwise return 1, or -ESTALE if the tracker has
 * seen the bit set before, so another program must have cleared it.
 */
static int is_unchanged(const uint64_t *frame, uint64_t entry)
{
	uint64_t listed = *frame & ~SEEN_WRITTEN;

	if (listed == 0 || !(entry & PAGEMAP_PRESENT) ||
	    (entry & PAGEMAP_FRAME) != listed || entry & PAGEMAP_SOFT_DIRTY)
		return 0;
	return *frame & SEEN_WRITTEN ? -ESTALE : 1;
}

/*
 * Count the page if it was changed. If a different page frame is now at the address,
 * mark the page to be copied again while the process is stopped, because the copy may
 * be of a different page.
 */
static int check_page(uint64_t *frame, uint64_t entry, uint64_t addr, void *context)
{
	uint64_t *pages = context;
	int r = is_unchanged(frame, entry);

	(void)addr;
	if (r != 0)
		return r < 0 ? r : 0;
	*pages += (entry & PAGEMAP_PRESENT) != 0;
	if (entry & PAGEMAP_PRESENT &&
	    (entry & PAGEMAP_FRAME) == (*frame & ~SEEN_WRITTEN))
		*frame |= SEEN_WRITTEN;
	else
		*frame = 0;
	return 0;
}

static int check(struct write_tracker *tracker, const struct tracked_part *part,
		 uint64_t *ret_pages)
{
	return visit_pages(tracker, part, check_page, ret_pages);
}

static int find_page(uint64_t *frame, uint64_t entry, uint64_t addr, void *context)
{
	int r = is_unchanged(frame, entry);

	if (r == 0)
		add_page(context, addr);
	return r < 0 ? r : 0;
}

static int find(struct write_tracker *tracker, const struct tracked_part *part,
		struct page_list *ret)
{
	return visit_pages(tracker, part, find_page, ret);
}

static const struct write_tracker_kind kind = {
	.has_one_round = true,
	.piece_bytes = PIECE_BYTES,
	.add = add,
	.begin = begin,
	.list = list,
	.check = check,
	.find = find,
};

int soft_dirty_open(struct write_tracker *ret, int clear_fd)
{
	*ret = (struct write_tracker){ .kind = &kind, .fd = clear_fd };
	if (flock(clear_fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return 0;
}
