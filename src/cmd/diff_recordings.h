/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_recordings - memstate diff of what was recorded: two recordings, or two moments.
 */
#ifndef MS_CMD_DIFF_RECORDINGS_H
#define MS_CMD_DIFF_RECORDINGS_H

#include "cmd/options.h"

/* Is one of both arguments a recording, with or without a moment, by what is in it? */
bool diff_recordings_are_meant(const struct options *options);

/* Compare them. Returns an exit status. */
int diff_recordings_run(const struct options *options);

#endif
