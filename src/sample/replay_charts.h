/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay_charts - a whole recording, read once, as charts over time.
 */
#ifndef MS_SAMPLE_REPLAY_CHARTS_H
#define MS_SAMPLE_REPLAY_CHARTS_H

#include "classify/timeline_charts.h"
#include "sample/replay.h"

/*
 * Of the processes that are meant, as replay_read() has them. is_stopped() is asked now and then: the
 * charts end there. Returns 0 or -errno with empty charts.
 */
int replay_read_charts(struct replay *replay, const struct targets *targets,
		       bool (*is_stopped)(void), struct timeline_charts *ret);

#endif
