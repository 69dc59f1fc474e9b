/* SPDX-License-Identifier: GPL-2.0-or-later */
/* huge_pages - restore huge pages of another process that were split. */
#ifndef MS_TRACEE_MEMORY_HUGE_PAGES_H
#define MS_TRACEE_MEMORY_HUGE_PAGES_H

#include <stdint.h>

#include "tracee/memory/page_list.h"

/*
 * `before` lists the memory that was in huge pages earlier. Find the huge pages that are
 * now split, and turn them into huge pages again with process_madvise(MADV_COLLAPSE)
 * (Linux 6.1, requires CAP_SYS_NICE). *ret_split_bytes is the total size of the split
 * huge pages, and *ret_restored_bytes the total size of those that were restored. Huge
 * pages of which the process has released a part are ignored.
 */
void huge_pages_restore(int pid, const struct page_list *before,
			uint64_t *ret_split_bytes, uint64_t *ret_restored_bytes);

#endif
