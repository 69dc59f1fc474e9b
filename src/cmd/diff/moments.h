/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moments - memstate diff of two moments in captures or recordings.
 */
#ifndef MS_CMD_DIFF_MOMENTS_H
#define MS_CMD_DIFF_MOMENTS_H

#include "cmd/core/options.h"

/*
 * Return whether an argument is a folder or, judging by its content, a recording; a
 * moment may follow the name.
 */
bool diff_moments_are_meant(const struct options *options);

/* Compare the two moments. Returns an exit status. */
int diff_moments_run(struct options *options);

#endif
