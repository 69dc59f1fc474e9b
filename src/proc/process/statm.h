/* SPDX-License-Identifier: GPL-2.0-or-later */
/* statm - read the sizes of a process in /proc/PID/statm, and check their accuracy. */
#ifndef MS_PROC_PROCESS_STATM_H
#define MS_PROC_PROCESS_STATM_H

#include <stdbool.h>
#include <stdint.h>

struct statm {
	uint64_t size_pages;
	uint64_t resident_pages;
	uint64_t shared_pages; /* resident pages of files and shared memory */
};

/*
 * Read an open statm file from its beginning. The sizes of a zombie and of a kernel
 * thread are 0. Return 0, -ESRCH if the process has ended, even if its pid has been
 * reused, -EBADMSG, or another -errno. *ret is unchanged on failure.
 */
int proc_statm_read(int fd, struct statm *ret);

/*
 * Return true if statm counts every page on this kernel. On kernels before Linux 6.2, and
 * on later kernels without the fix from Linux 6.16, a process may gain or lose a few
 * dozen pages before statm changes. The function maps and touches three pages of its own.
 */
bool proc_statm_is_exact(void);

#endif
