/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * captured_moment - all that a captured tree has, to be compared with another moment.
 */
#ifndef MS_SAMPLE_CAPTURED_MOMENT_H
#define MS_SAMPLE_CAPTURED_MOMENT_H

#include "classify/moment_diff.h"
#include "sample/sampler.h"

/*
 * The processes of a folder of capture's, as sampler_list() chooses them, at the time when
 * that was made. Returns 0, or -errno of procfs_open() with an empty moment.
 */
int captured_moment_read(const char *dir, struct targets *targets, struct moment *ret);

#endif
