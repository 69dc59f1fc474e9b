/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorder - each sample into a recording: totals always, mappings as often as reading
 * them costs no process more than a share of its time.
 */
#ifndef MS_SAMPLE_RECORDER_H
#define MS_SAMPLE_RECORDER_H

#include "sample/sampler.h"
#include "store/recording.h"

struct recorder;

/* What samples must have of processes to be recorded: or'ed to the needs. */
#define RECORDER_NEEDS (NEED_STAT | NEED_UID | NEED_COMMAND | NEED_ROLLUP)

/*
 * The sampler, which is borrowed, gives it mappings from now on. Returns 0 or -errno of
 * recording_open().
 */
int recorder_open(const char *path, const struct recording_bounds *bounds,
		  unsigned int share_per_mille, struct sampler *sampler, struct recorder **ret);
void recorder_close(struct recorder *recorder);

/* A sample is about to be taken. */
void recorder_begin(struct recorder *recorder);

/*
 * It was taken: all of it is written, and the group of its processes if there is one (or
 * NULL). Returns 0, or the first -errno since it began: the
 * sample is not in the file then, and the next one may be again.
 */
int recorder_end(struct recorder *recorder, const struct snapshot *snapshot,
		 const struct cgroup *cgroup);

/* Something happened, in a sample or between two. Returns 0 or -errno. */
int recorder_add_event(struct recorder *recorder, const struct recorded_event *event);

#endif
