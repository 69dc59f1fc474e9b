/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scale - run a command with increasing sizes, and report how its allocations grow with
 * them (memstate count --scale).
 */
#ifndef MS_CMD_COUNT_SCALE_H
#define MS_CMD_COUNT_SCALE_H

#include "cmd/core/options.h"
#include "model/comparison.h"

/*
 * Reject options that cannot be combined with --scale. Return EXIT_DONE, or print a
 * message and return EXIT_BAD_USAGE.
 */
int count_scale_check_usage(const struct options *options);

/*
 * Make the runs, show the growth, and check it against the limit. The caller must have
 * called count_child_check() for count_scale_shell. Return memstate's exit status.
 */
int count_scale_run(const struct options *options, const struct variant *allocator);

/* Path of the shell that runs the command. */
extern char count_scale_shell[];

#endif
