/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trend_reader - compute memory trends from live samples or from a recording. */
#ifndef MS_SAMPLE_OOM_TREND_READER_H
#define MS_SAMPLE_OOM_TREND_READER_H

#include "classify/growth/trends.h"
#include "sample/process/cgroup_sampler.h"
#include "sample/recording/replay.h"

struct trend_reader {
	struct trends *trends;
	struct snapshot processes; /* processes of the last sample */
	struct cgroup cgroup;	   /* cgroup of the last sample that contains a cgroup */
	bool has_group;
};

void trend_reader_init(struct trend_reader *reader);
void trend_reader_release(struct trend_reader *reader);

/*
 * Take a live sample and add it to the trends. Return the result
 * of cgroup_sampler_take().
 */
int trend_reader_take(struct trend_reader *reader, struct cgroup_sampler *sampler);

/*
 * Add a sample from a recording: the targets and, if all processes are targets, the
 * recorded cgroup. Return 0 or -errno.
 */
int trend_reader_add(struct trend_reader *reader, struct replay *replay, size_t index,
		     const struct targets *targets);

/*
 * Add the recorded samples up to and including sample `last`. If reading them all would
 * take more than about a second, add only the most recent samples. Return 0 or -errno.
 */
int trend_reader_add_past(struct trend_reader *reader, struct replay *replay, size_t last,
			  const struct targets *targets);

#endif
