/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lazy - find out which pages of an image its readers use, by means of page faults in
 * memstate's own memory. The image is sparse: see image_make_sparse().
 *
 * Source: Documentation/admin-guide/mm/userfaultfd.rst. The kernel must be Linux 5.11 or
 * later and must have CONFIG_USERFAULTFD. A process with a seccomp filter does not try
 * userfaultfd(2).
 */
#ifndef MS_TRACEE_MEMORY_LAZY_H
#define MS_TRACEE_MEMORY_LAZY_H

#include <stdbool.h>
#include <stdint.h>

#include "model/image.h"
#include "tracee/memory/page_list.h"

struct lazy;

/*
 * When a page is accessed, the other pages in its aligned block of this size are read
 * too. Accesses to the other pages are then not detected, and only the first page is
 * listed.
 */
#define LAZY_BLOCK_BYTES (UINT64_C(64) << 10)

/*
 * Begin to watch a sparse image. The first access to an absent page reads the page
 * through mem_fd, which is /proc/PID/mem of the target. If mem_fd is -1, or if the page
 * has vanished, the page contains zeros. Once page_max pages have been read, all other
 * absent pages read as zeros, so that useless work ends soon and takes no more memory.
 * Until lazy_stop(), the image must not be changed, and its bytes must not be passed to
 * the kernel.
 *
 * Return 0, or -errno if userfaultfd(2) is not available.
 */
int lazy_start(struct image *image, int mem_fd, uint64_t page_max, struct lazy **ret);

/*
 * Stop watching the image. Append to *ret the pages that were absent when they were
 * accessed, and add to *cpu_ns the CPU time for reading them. Return false if there were
 * more than page_max such pages.
 */
bool lazy_stop(struct lazy *lazy, struct page_list *ret, uint64_t *cpu_ns);

#endif
