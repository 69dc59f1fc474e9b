/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write_track - let the kernel record which pages a running process writes:
 * userfaultfd(2) with UFFD_FEATURE_WP_ASYNC, and PAGEMAP_SCAN (Linux 6.7).
 *
 * The first write to a protected page causes a short page fault, which the kernel handles
 * on its own. The process never waits for memstate, and receives neither a signal nor an
 * event. When the descriptor is closed, which also happens if memstate is killed, the
 * kernel removes all protection.
 *
 * This module is one of the two implementations of write_tracker. fault_fd is a
 * userfaultfd of the process, pagemap_fd its /proc/PID/pagemap. Functions return 0 or
 * -errno.
 */
#ifndef MS_TRACEE_MEMORY_WRITE_TRACK_H
#define MS_TRACEE_MEMORY_WRITE_TRACK_H

#include <stdbool.h>
#include <stdint.h>

#include "tracee/memory/page_list.h"
#include "tracee/memory/write_tracker.h"

/* Return true if the kernel can track writes for this user. */
bool write_track_is_supported(void);

/*
 * Create a tracker with a new userfaultfd of the process. The tracker owns the
 * descriptor, but on failure the caller closes it.
 */
int write_track_open(struct write_tracker *ret, int fault_fd);

/*
 * Register a range of private anonymous memory. Return -EBUSY if the process itself, or
 * another memstate, has a userfaultfd for this memory.
 */
int write_track_register(int fault_fd, uint64_t start_addr, uint64_t end_addr);

/*
 * Append the pages of newly registered memory that are already marked as protected. The
 * process may be able to write to them nevertheless, and the kernel would not record
 * such writes. These marks come from an earlier userfaultfd: if the process moves
 * registered memory with mremap(2), the kernel unregisters the mapping but keeps the
 * marks of its pages.
 */
int write_track_find_stale(int pagemap_fd, uint64_t start_addr, uint64_t end_addr,
			   struct page_list *ret);

/*
 * Append the resident pages that were written since they were last listed, and protect
 * them. At first, all resident pages count as written. Memory that is not registered is
 * left out.
 *
 * The function does not use PM_SCAN_CHECK_WPASYNC: if a part of the range is no longer
 * registered, the ioctl would fail, but might already have protected pages without
 * listing them.
 */
int write_track_protect(int pagemap_fd, uint64_t start_addr, uint64_t end_addr,
			struct page_list *ret);

/*
 * Append all pages whose contents may have changed since they were last listed: pages
 * that were written, and pages of memory that is not registered. Pages that are not
 * resident may be included. The process must be stopped.
 */
int write_track_find(int pagemap_fd, uint64_t start_addr, uint64_t end_addr,
		     struct page_list *ret);

/* Append the pages that are mapped as parts of huge pages. */
int write_track_find_huge(int pagemap_fd, uint64_t start_addr, uint64_t end_addr,
			  struct page_list *ret);

/*
 * Remove the protection in small steps, because each step blocks page faults of the
 * process. Errors are ignored, because closing fault_fd removes any remaining protection.
 */
void write_track_unregister(int fault_fd, uint64_t start_addr, uint64_t end_addr);

#endif
