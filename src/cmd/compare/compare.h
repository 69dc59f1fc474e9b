/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare - memstate --preload A,B... -- COMMAND: run the same work under each
 * allocator and show the results side by side.
 */
#ifndef MS_CMD_COMPARE_COMPARE_H
#define MS_CMD_COMPARE_COMPARE_H

#include <stdbool.h>

#include "cmd/core/options.h"

/* Whether --preload names two or more allocators. */
bool compare_is_wanted(const struct options *options);

/*
 * Run the comparison. Returns an enum exit_status: EXIT_PARTIAL if some runs failed,
 * EXIT_FAILED if all did.
 */
int compare_run(struct options *options);

#endif
