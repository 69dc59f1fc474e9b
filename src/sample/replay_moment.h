/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay_moment - all that a recording has of one moment, to be compared with another one.
 */
#ifndef MS_SAMPLE_REPLAY_MOMENT_H
#define MS_SAMPLE_REPLAY_MOMENT_H

#include "classify/moment_diff.h"
#include "sample/replay.h"

/*
 * The processes as replay_read() chooses them; mappings are searched in at most the thousand samples
 * before. Returns 0, or -errno with an empty moment.
 */
int replay_read_moment(struct replay *replay, size_t index, const struct targets *targets,
		       struct moment *ret);

#endif
