/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replay_charts - turn a whole recording, read in one pass, into charts over time. */
#ifndef MS_SAMPLE_RECORDING_REPLAY_CHARTS_H
#define MS_SAMPLE_RECORDING_REPLAY_CHARTS_H

#include "classify/growth/timeline_charts.h"
#include "sample/recording/replay.h"

/*
 * Make charts of the processes that replay_read() selects. is_stopped() is
 * polled; once it returns true, the charts end with the samples read so far.
 * Returns 0, or -errno with empty charts.
 */
int replay_read_charts(struct replay *replay, const struct targets *targets,
		       bool (*is_stopped)(void), struct timeline_charts *ret);

#endif
