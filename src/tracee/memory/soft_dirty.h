/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * soft_dirty - a write_tracker that uses the kernel's soft-dirty bits
 * (CONFIG_MEM_SOFT_DIRTY). It requires no system call in the process and no
 * PAGEMAP_SCAN, but it clears the bits for all their users, such as CRIU. The bits cannot
 * be restored. See Documentation/admin-guide/mm/soft-dirty.rst.
 *
 * A write to /proc/PID/clear_refs clears the bits of all pages; the first write to each
 * page after that sets its bit again. Reading the bits and clearing them are two steps,
 * so there is only one round: clear the bits, copy all pages, stop the process, and copy
 * again the pages whose bits are set.
 *
 * The bits alone are not sufficient: mremap(2) moves whole page tables without setting
 * bits, so unwritten pages can appear at an address whose previous page was copied. The
 * tracker therefore also compares the physical addresses of the pages, which the kernel
 * shows only to a process with CAP_SYS_ADMIN.
 */
#ifndef MS_TRACEE_MEMORY_SOFT_DIRTY_H
#define MS_TRACEE_MEMORY_SOFT_DIRTY_H

#include "tracee/memory/write_tracker.h"

/*
 * Test on a page of memstate itself whether memstate can use soft-dirty bits. Return 0 if
 * so; -EOPNOTSUPP if the kernel has no soft-dirty bits; -EPERM if memstate may not see
 * physical addresses; or another -errno.
 */
int soft_dirty_check_support(void);

/*
 * Create a tracker. clear_fd is the process's /proc/PID/clear_refs, opened for writing.
 * The tracker owns it, but on failure the caller closes it. Return 0, or -EBUSY if
 * another memstate has such a tracker for this process.
 *
 * begin() makes page faults of the process wait while the kernel clears the bits. check()
 * and find() return -ESTALE if they notice that another program has cleared the bits.
 */
int soft_dirty_open(struct write_tracker *ret, int clear_fd);

#endif
