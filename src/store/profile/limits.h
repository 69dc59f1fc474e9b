/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limits - upper bounds for profiles read from untrusted files. The bounds are higher
 * than the profiles of all programs seen so far: a browser has some million stacks.
 */
#ifndef MS_STORE_PROFILE_LIMITS_H
#define MS_STORE_PROFILE_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* Maximum size of a file, before and after decompression. */
#define PROFILE_FILE_MAX_BYTES ((size_t)1 << 29)
#define PROFILE_NODES_MAX ((size_t)1 << 24)
/* Maximum sum of each metric. Differences of two sums fit into a signed number. */
#define PROFILE_SUM_MAX ((uint64_t)INT64_MAX)

#endif
