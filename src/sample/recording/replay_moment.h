/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay_moment - read from a recording everything about one point in time, for
 * comparison with another point in time.
 */
#ifndef MS_SAMPLE_RECORDING_REPLAY_MOMENT_H
#define MS_SAMPLE_RECORDING_REPLAY_MOMENT_H

#include "classify/compare/moment_diff.h"
#include "sample/recording/replay.h"

/*
 * Read the processes that replay_read() selects. Search for their mappings in at most the
 * thousand preceding samples. Return 0, or -errno with *ret empty.
 */
int replay_read_moment(struct replay *replay, size_t index, const struct targets *targets,
		       struct moment *ret);

#endif
