/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_limits - how much of a foreign profile is taken in. More than any program's
 * that was seen: a browser has some million stacks.
 */
#ifndef MS_STORE_PROFILE_LIMITS_H
#define MS_STORE_PROFILE_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#define PROFILE_FILE_MAX_BYTES ((size_t)1 << 29) /* also when unpacked */
#define PROFILE_NODES_MAX ((size_t)1 << 24)
#define PROFILE_SUM_MAX ((uint64_t)INT64_MAX) /* of a metric, so that differences have a sign */

#endif
