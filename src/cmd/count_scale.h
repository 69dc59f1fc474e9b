/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_scale - memstate count --scale: a command of growing sizes, and how what it
 * allocates grows with them.
 */
#ifndef MS_CMD_COUNT_SCALE_H
#define MS_CMD_COUNT_SCALE_H

#include "cmd/options.h"
#include "model/comparison.h"

/* What does not go together with it is refused. Returns EXIT_DONE, or EXIT_BAD_USAGE. */
int count_scale_check_usage(const struct options *options);

/* The shell has been looked at. Returns the status to end with. */
int count_scale_run(const struct options *options, const struct variant *allocator);

/* The shell that runs the command. */
extern char count_scale_shell[];

#endif
