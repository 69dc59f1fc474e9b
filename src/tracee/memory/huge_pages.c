/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/memory/huge_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "proc/process/dir.h"
#include "tracee/memory/write_track.h"

#ifndef SYS_pidfd_open
#	define SYS_pidfd_open 434
#endif
#ifndef SYS_process_madvise
#	define SYS_process_madvise 440
#endif
#ifndef MADV_COLLAPSE
#	define MADV_COLLAPSE 25
#endif

#define HUGE_PAGE_BYTES (UINT64_C(2) << 20)

/* Bit of a pagemap entry. Source: Documentation/admin-guide/mm/pagemap.rst. */
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)

struct restore {
	int pagemap_fd, pidfd;
	bool is_refused; /* true if memstate lacks the right to restore huge pages */
	uint64_t split_bytes, restored_bytes;
};

/* Return 1 if the page is mapped as a huge page, 0 if not, or -errno. */
static int is_huge(int pagemap_fd, uint64_t addr)
{
	struct page_list list = PAGE_LIST_INIT;
	int r = write_track_find_huge(pagemap_fd, addr, addr + HUGE_PAGE_BYTES, &list);

	if (r == 0)
		r = page_list_bytes(&list) == HUGE_PAGE_BYTES;
	page_list_release(&list);
	return r;
}

/*
 * Return true if all small pages are resident. Otherwise the process has released some,
 * and a huge page would allocate their memory again.
 */
static bool is_whole(int pagemap_fd, uint64_t addr)
{
	uint64_t entries[HUGE_PAGE_BYTES / IMAGE_PAGE_BYTES];
	off_t at = (off_t)(addr / IMAGE_PAGE_BYTES * sizeof(entries[0]));

	if (pread(pagemap_fd, entries, sizeof(entries), at) != (ssize_t)sizeof(entries))
		return false;
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (!(entries[i] & PAGEMAP_PRESENT))
			return false;
	return true;
}

static void restore(struct restore *at, uint64_t addr)
{
	struct iovec range = { (void *)(uintptr_t)addr, HUGE_PAGE_BYTES };

	if (is_huge(at->pagemap_fd, addr) != 0 || !is_whole(at->pagemap_fd, addr))
		return;
	at->split_bytes += HUGE_PAGE_BYTES;
	if (at->is_refused)
		return;
	if (syscall(SYS_process_madvise, at->pidfd, &range, 1, MADV_COLLAPSE, 0) >= 0)
		at->restored_bytes += HUGE_PAGE_BYTES;
	else
		at->is_refused = errno == EPERM || errno == ENOSYS || errno == ESRCH;
}

void huge_pages_restore(int pid, const struct page_list *before,
			uint64_t *ret_split_bytes, uint64_t *ret_restored_bytes)
{
	_cleanup_close_ int process_fd = proc_dir_open_live(pid);
	_cleanup_close_ int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	_cleanup_close_ int pagemap_fd =
		process_fd < 0 ? -1
			       : proc_dir_open_file(process_fd, PROC_PAGEMAP, O_RDONLY);
	struct restore at = { .pagemap_fd = pagemap_fd, .pidfd = pidfd };

	for (size_t i = 0; pagemap_fd >= 0 && i < before->count; i++)
		for (uint64_t addr = before->items[i].start_addr;
		     addr + HUGE_PAGE_BYTES <= before->items[i].end_addr;
		     addr += HUGE_PAGE_BYTES)
			restore(&at, addr);
	*ret_split_bytes = at.split_bytes;
	*ret_restored_bytes = at.restored_bytes;
}
