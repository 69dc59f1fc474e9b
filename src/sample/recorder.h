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
/* So much of each process's time from now on, for mappings; 0: none but those that are asked for. */
void recorder_set_share(struct recorder *recorder, unsigned int share_per_million);
void recorder_close(struct recorder *recorder);

/*
 * Record of each process of a group also where it runs and which options of its language's
 * runtime are in its environment, from now on. fs is borrowed.
 */
void recorder_set_notes(struct recorder *recorder, const struct procfs *fs);

/* A sample is about to be taken. */
void recorder_begin(struct recorder *recorder);

/*
 * It was taken: all of it is written, and the group of its processes if there is one (or
 * NULL). Returns 0, or the first -errno since it began: the
 * sample is not in the file then, and the next one may be again.
 */
int recorder_end(struct recorder *recorder, const struct snapshot *snapshot,
		 const struct cgroup *cgroup);

/* A process of the sample that has begun, read by somebody else with these mappings. */
void recorder_add(struct recorder *recorder, const struct usage *usage,
		  const struct mapping_list *mappings);

/*
 * Take a sample of the targets, all of it, for those who show something else. One process,
 * or NULL, was read with these mappings just now, and is not read again. Returns as
 * recorder_end(), or the -errno for which the processes cannot be listed.
 */
struct recorder_known {
	const struct usage *usage; /* NULL: none */
	const struct mapping_list *mappings;
	const struct cgroup *cgroup; /* or NULL, as of recorder_end() */
};
int recorder_take(struct recorder *recorder, struct targets *targets,
		  const struct recorder_known *known);

/* True if the last sample by recorder_take() was the last one of its targets. */
bool recorder_has_ended(const struct recorder *recorder);

/* As sampler_min_interval_ns(), of the last recorder_take(). */
uint64_t recorder_min_interval_ns(const struct recorder *recorder, unsigned int per_mille);

/* 0, or the -errno for which the last sample is not in the file. */
int recorder_error(const struct recorder *recorder);

/* Something happened, in a sample or between two. Returns 0 or -errno. */
int recorder_add_event(struct recorder *recorder, const struct recorded_event *event);

#endif
