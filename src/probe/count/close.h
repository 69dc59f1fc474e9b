/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * close - remove many breakpoints in parallel, because removing one takes about 25 ms:
 * the kernel waits until no thread can be executing the breakpoint.
 */
#ifndef MS_PROBE_COUNT_CLOSE_H
#define MS_PROBE_COUNT_CLOSE_H

#include <stddef.h>

/* Close the descriptors, using several threads. Skip elements that are -1. */
void count_close_all(const int *fds, size_t count);

#endif
