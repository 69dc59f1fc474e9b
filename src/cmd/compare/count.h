/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count - counts of allocations in a comparison (--count).
 */
#ifndef MS_CMD_COMPARE_COUNT_H
#define MS_CMD_COMPARE_COUNT_H

#include "cmd/compare/run.h"

/*
 * Run each variant once more, with the counting library loaded before its allocator.
 * Separate runs keep the overhead of counting out of the measured ones.
 *
 * Sets context->comparison->counts; counts are unknown for a run that fails,
 * and a message reports the failure. Returns 0, or -errno after a message if
 * nothing can be started.
 */
int compare_count_all(struct compare_context *context);

#endif
