/* SPDX-License-Identifier: GPL-2.0-or-later */
/* count - count the allocations of each variant in a comparison (--count). */
#ifndef MS_CMD_COMPARE_COUNT_H
#define MS_CMD_COMPARE_COUNT_H

#include "cmd/compare/run.h"

/*
 * Run each variant once more, with the counting library loaded before the variant's
 * allocator. These runs are separate, so that the overhead of counting does not affect
 * the measured runs. Set context->comparison->counts. If a run fails, its counts are
 * unknown, and a message reports the failure. Return 0, or print a message and return
 * -errno if the command or the workload cannot be started.
 */
int compare_count_all(struct compare_context *context);

#endif
