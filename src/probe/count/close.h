/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * close - remove many breakpoints in parallel: for each one the kernel waits about
 * 25 ms until no thread can be in it any more.
 */
#ifndef MS_PROBE_COUNT_CLOSE_H
#define MS_PROBE_COUNT_CLOSE_H

#include <stddef.h>

/* Close the descriptors; those that are -1 are skipped. */
void count_close_all(const int *fds, size_t count);

#endif
