/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_scan - the interface of the PAGEMAP_SCAN ioctl, and the bits of an entry of
 * pagemap, see Documentation/admin-guide/mm/pagemap.rst.
 *
 * The definitions of PAGEMAP_SCAN are from include/uapi/linux/fs.h of Linux 6.7. Their
 * names differ from the kernel's, because installed headers may contain the original
 * definitions.
 */
#ifndef MS_TRACEE_MEMORY_PAGE_SCAN_H
#define MS_TRACEE_MEMORY_PAGE_SCAN_H

#include <linux/types.h>
#include <stdint.h>
#include <sys/ioctl.h>

#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_SWAPPED (UINT64_C(1) << 62)
#define PAGEMAP_FILE (UINT64_C(1) << 61)
#define PAGEMAP_EXCLUSIVE (UINT64_C(1) << 56)
#define PAGEMAP_SOFT_DIRTY (UINT64_C(1) << 55)
#define PAGEMAP_FRAME ((UINT64_C(1) << 55) - 1)

struct scan_region {
	__u64 start, end, categories;
};

struct scan_arg {
	__u64 size, flags, start, end, walk_end;
	__u64 vec, vec_len, max_pages;
	__u64 category_inverted, category_mask, category_anyof_mask, return_mask;
};

#define SCAN_IOCTL _IOWR('f', 16, struct scan_arg)
#define SCAN_WPALLOWED (1 << 0)
#define SCAN_WRITTEN (1 << 1)
#define SCAN_FILE (1 << 2)
#define SCAN_PRESENT (1 << 3)
#define SCAN_SWAPPED (1 << 4)
#define SCAN_PFNZERO (1 << 5)
#define SCAN_HUGE (1 << 6)

#define SCAN_FLAG_PROTECT (1 << 0) /* PM_SCAN_WP_MATCHING */

#define SCAN_REGIONS 512

#endif
