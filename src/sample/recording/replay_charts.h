/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replay_charts - read a whole recording in one pass and create charts over time. */
#ifndef MS_SAMPLE_RECORDING_REPLAY_CHARTS_H
#define MS_SAMPLE_RECORDING_REPLAY_CHARTS_H

#include "classify/growth/timeline_charts.h"
#include "sample/recording/replay.h"

/*
 * Create charts of the processes that replay_read() selects. If is_stopped() returns true
 * while the recording is read, the charts end with the samples read so far. Return 0, or
 * -errno with empty charts.
 */
int replay_read_charts(struct replay *replay, const struct targets *targets,
		       bool (*is_stopped)(void), struct timeline_charts *ret);

#endif
