/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trend_reader - trends of what is sampled, or of what a recording has.
 */
#ifndef MS_SAMPLE_TREND_READER_H
#define MS_SAMPLE_TREND_READER_H

#include "classify/trends.h"
#include "sample/cgroup_sampler.h"
#include "sample/replay.h"

struct trend_reader {
	struct trends *trends;
	struct snapshot processes; /* of the last sample */
	struct cgroup cgroup;	   /* of the last one that had one */
	bool has_group;
};

void trend_reader_init(struct trend_reader *reader);
void trend_reader_release(struct trend_reader *reader);

/* Take a sample, and add it. Returns as cgroup_sampler_take(). */
int trend_reader_take(struct trend_reader *reader, struct cgroup_sampler *sampler);

/*
 * Add one of a recording: of the targets, with its group if they are all. Returns 0 or
 * -errno.
 */
int trend_reader_add(struct trend_reader *reader, struct replay *replay, size_t index,
		     const struct targets *targets);

/* The same of those up to it; of so many that it takes no more than a second. */
int trend_reader_add_past(struct trend_reader *reader, struct replay *replay, size_t last,
			  const struct targets *targets);

#endif
