/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * captured_moment - read all processes of a captured /proc tree, to compare them with the
 * processes at another time.
 */
#ifndef MS_SAMPLE_PROCESS_CAPTURED_MOMENT_H
#define MS_SAMPLE_PROCESS_CAPTURED_MOMENT_H

#include "classify/compare/moment_diff.h"
#include "sample/process/sampler.h"

/*
 * Read the targets among the processes in the capture's directory `dir`, as of the time
 * of the capture. Return 0, or -errno from procfs_open() with *ret empty.
 */
int captured_moment_read(const char *dir, struct targets *targets, struct moment *ret);

#endif
