/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_close - take breakpoints out, all at once: for each the kernel waits until nobody can be
 * in it any more, some 25 ms.
 */
#ifndef MS_PROBE_COUNT_CLOSE_H
#define MS_PROBE_COUNT_CLOSE_H

#include <stddef.h>

/* Close them; those that are -1 are none. */
void count_close_all(const int *fds, size_t count);

#endif
