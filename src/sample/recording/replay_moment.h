/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay_moment - read everything that a recording contains about one moment,
 * for comparison with another moment.
 */
#ifndef MS_SAMPLE_RECORDING_REPLAY_MOMENT_H
#define MS_SAMPLE_RECORDING_REPLAY_MOMENT_H

#include "classify/compare/moment_diff.h"
#include "sample/recording/replay.h"

/*
 * Read the processes that replay_read() selects. Search for their mappings in at most the
 * thousand preceding samples. Return 0, or -errno with an empty moment.
 */
int replay_read_moment(struct replay *replay, size_t index, const struct targets *targets,
		       struct moment *ret);

#endif
