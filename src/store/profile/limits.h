/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limits - limits on profiles from untrusted files. They exceed the profiles of
 * all programs seen so far: a browser has some million stacks.
 */
#ifndef MS_STORE_PROFILE_LIMITS_H
#define MS_STORE_PROFILE_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#define PROFILE_FILE_MAX_BYTES ((size_t)1 << 29) /* also the limit after decompression */
#define PROFILE_NODES_MAX ((size_t)1 << 24)
/* per metric, so that differences fit into a signed number */
#define PROFILE_SUM_MAX ((uint64_t)INT64_MAX)

#endif
