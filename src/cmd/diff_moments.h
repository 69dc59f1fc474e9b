/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_moments - memstate diff of what was recorded or captured: of two moments.
 */
#ifndef MS_CMD_DIFF_MOMENTS_H
#define MS_CMD_DIFF_MOMENTS_H

#include "cmd/options.h"

/* Is one of both arguments a folder, or a recording, with or without a moment, by what is in it? */
bool diff_moments_are_meant(const struct options *options);

/* Compare them. Returns an exit status. */
int diff_moments_run(struct options *options);

#endif
