/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_count - allocations in a comparison (--count).
 */
#ifndef MS_CMD_COMPARE_COUNT_H
#define MS_CMD_COMPARE_COUNT_H

#include "cmd/compare_run.h"

/*
 * Make one more run of each variant, with the library that counts before its allocator;
 * the others are not disturbed by that. Sets context->comparison->counts: unknown where it
 * fails, which is said. Returns 0, or -errno after the message: nothing can be started.
 */
int compare_count_all(struct compare_context *context);

#endif
