/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorder - write each sample to a recording: totals always, mappings as often as
 * reading them costs no process more than a share of its time.
 */
#ifndef MS_SAMPLE_RECORDING_RECORDER_H
#define MS_SAMPLE_RECORDING_RECORDER_H

#include "sample/process/sampler.h"
#include "store/recording/recording.h"

struct recorder;

/* The needs that samples must have to be recorded, to be or'ed to the caller's needs. */
#define RECORDER_NEEDS (NEED_STAT | NEED_UID | NEED_COMMAND | NEED_ROLLUP)

/*
 * Open a recorder. The sampler, which is borrowed, passes mappings to the recorder from
 * now on. Returns 0 or -errno from recording_open().
 */
int recorder_open(const char *path, const struct recording_bounds *bounds,
		  unsigned int share_per_mille, struct sampler *sampler,
		  struct recorder **ret);
/*
 * Set the share of each process's time for reading mappings; 0: read them once, and
 * afterwards only those that the caller requests.
 */
void recorder_set_share(struct recorder *recorder, unsigned int share_per_million);
void recorder_close(struct recorder *recorder);

/*
 * From now on, also record for each process of a group where it runs and the options of
 * its language runtime in its environment. fs is borrowed.
 */
void recorder_set_notes(struct recorder *recorder, const struct procfs *fs);

/* Announce that a sample is about to be taken. */
void recorder_begin(struct recorder *recorder);

/*
 * Write the sample that was taken, and the group of its processes, or NULL. Returns 0, or
 * the first -errno since recorder_begin(): then the sample is not in the file, but the
 * next one may succeed.
 */
int recorder_end(struct recorder *recorder, const struct snapshot *snapshot,
		 const struct cgroup *cgroup);

/* Add a process of the current sample that the caller has read with these mappings. */
void recorder_add(struct recorder *recorder, const struct usage *usage,
		  const struct mapping_list *mappings);

/*
 * Take and record a whole sample of the targets, for callers that show something else.
 * `known` names a process that was read just now with these mappings and is not read
 * again. Returns like recorder_end(), or -errno if the processes cannot be listed.
 */
struct recorder_known {
	const struct usage *usage; /* NULL: no such process */
	const struct mapping_list *mappings;
	const struct cgroup *cgroup; /* as for recorder_end(); may be NULL */
};
int recorder_take(struct recorder *recorder, struct targets *targets,
		  const struct recorder_known *known);

/*
 * Whether the targets have ended, so that the last recorder_take() is their last sample.
 */
bool recorder_has_ended(const struct recorder *recorder);

/* Like sampler_min_interval_ns(), for the last recorder_take(). */
uint64_t recorder_min_interval_ns(const struct recorder *recorder,
				  unsigned int per_mille);

/* Return 0, or -errno if the last sample is not in the file. */
int recorder_error(const struct recorder *recorder);

/* Record an event, during a sample or between two. Returns 0 or -errno. */
int recorder_add_event(struct recorder *recorder, const struct recorded_event *event);

#endif
