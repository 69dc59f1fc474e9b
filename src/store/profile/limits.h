/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limits - upper bounds for profiles in untrusted files. The profiles of real programs
 * are far below these bounds: a browser's profile has a few million stacks.
 */
#ifndef MS_STORE_PROFILE_LIMITS_H
#define MS_STORE_PROFILE_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* Maximum size of a profile file in bytes, both compressed and decompressed. */
#define PROFILE_FILE_MAX_BYTES ((size_t)1 << 29)
#define PROFILE_NODES_MAX ((size_t)1 << 24)
/* Maximum sum of each metric, so that the difference of two sums fits into an int64_t. */
#define PROFILE_SUM_MAX ((uint64_t)INT64_MAX)

#endif
