/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lazy - find out which pages of an image its readers use, by means of page faults in
 * memstate's own memory. The image must be watchable: see image_make_watchable().
 *
 * Source: Documentation/admin-guide/mm/userfaultfd.rst and pagemap.rst. The kernel must
 * be Linux 5.11 or later and must have CONFIG_USERFAULTFD. Before Linux 5.19, the kernel
 * maps up to 16 pages on each access, so pages near an accessed page count as accessed.
 */
#ifndef MS_TRACEE_MEMORY_LAZY_H
#define MS_TRACEE_MEMORY_LAZY_H

#include <stdbool.h>
#include <stdint.h>

#include "model/image.h"
#include "tracee/memory/page_list.h"

struct lazy;

/*
 * When an absent page is accessed, the absent pages in its aligned block of this size are
 * read too.
 */
#define LAZY_BLOCK_BYTES (UINT64_C(64) << 10)

/*
 * Return true if watching is possible, and does no harm to memstate. It is not if
 * - memstate has a seccomp filter, which may kill it because of a system call,
 * - RLIMIT_FSIZE is set, which applies to files in memory and ends memstate by SIGXFSZ,
 * - the kernel does not overcommit memory: it sends SIGBUS if it lacks a page of a file,
 * - the kernel uses huge pages for files in memory, or
 * - memstate may not read its own pagemap, because it has file capabilities.
 */
bool lazy_is_possible(void);

/*
 * Begin to watch a watchable image. The first access to an absent page reads the page
 * through mem_fd, which is /proc/PID/mem of the target. If mem_fd is -1, or if the page
 * has vanished, the page contains zeros.
 *
 * Watching ends early, and all other absent pages then read as zeros, in two cases: if
 * page_max pages have been read; or, with ends_if_dense, if after each eighth of the
 * image more than a third of the pages read so far were also accessed. This limits the
 * time and the memory that a useless walk takes.
 *
 * Until lazy_stop(), the image must not be changed, and its bytes must not be passed to
 * the kernel.
 *
 * Return 0; -EPERM if lazy_is_possible() returns false; or another -errno if
 * userfaultfd(2) is not available.
 */
int lazy_start(struct image *image, int mem_fd, uint64_t page_max, bool ends_if_dense,
	       struct lazy **ret);

/*
 * Stop watching the image. Append to *ret_accessed the pages that were accessed, and to
 * *ret_missing some of the pages that were absent when they were accessed: at least one
 * of each LAZY_BLOCK_BYTES that were read. Either list may be NULL. Pages that the caller
 * added through the image's mapping, not through its file, count as accessed. Add to
 * *cpu_ns the CPU time for reading the pages. Return false if too many pages were read or
 * accessed, or if the accessed pages cannot be determined.
 */
bool lazy_stop(struct lazy *lazy, struct page_list *ret_accessed,
	       struct page_list *ret_missing, uint64_t *cpu_ns);

#endif
