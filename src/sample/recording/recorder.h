/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorder - write samples to a recording. Each sample contains the totals. Mappings are
 * recorded less often, so that reading those of a process takes at most a given share of
 * the elapsed time.
 */
#ifndef MS_SAMPLE_RECORDING_RECORDER_H
#define MS_SAMPLE_RECORDING_RECORDER_H

#include "sample/process/sampler.h"
#include "store/recording/recording.h"

struct recorder;

/*
 * The needs with which samples must be taken to be recorded. OR
 * them with the caller's needs.
 */
#define RECORDER_NEEDS (NEED_STAT | NEED_UID | NEED_COMMAND | NEED_ROLLUP)

/*
 * Open a recorder. The sampler is borrowed, and passes mappings to the recorder from now
 * on. Returns 0 or -errno from recording_open().
 */
int recorder_open(const char *path, const struct recording_bounds *bounds,
		  unsigned int share_per_mille, struct sampler *sampler,
		  struct recorder **ret);
/*
 * Set the share of each process's time for reading mappings. With 0, read the mappings
 * once, and later only those that the caller requests.
 */
void recorder_set_share(struct recorder *recorder, unsigned int share_per_million);
void recorder_close(struct recorder *recorder);

/*
 * Also record notes about each process of a cgroup from now on: where the process runs,
 * and the options of its language runtime in its environment. fs is borrowed.
 */
void recorder_set_notes(struct recorder *recorder, const struct procfs *fs);

/* Announce that the caller is about to take a sample. */
void recorder_begin(struct recorder *recorder);

/*
 * Write the current sample, and the cgroup of its processes, which may be NULL. Returns
 * 0, or the first -errno since recorder_begin(). On an error the sample is not in the
 * file, but the next sample may succeed.
 */
int recorder_end(struct recorder *recorder, const struct snapshot *snapshot,
		 const struct cgroup *cgroup);

/*
 * Add a process to the current sample, with the mappings that the caller has just read.
 */
void recorder_add(struct recorder *recorder, const struct usage *usage,
		  const struct mapping_list *mappings);

/*
 * Take and record a complete sample of the targets, for callers that show something else.
 * `known` names a process that the caller has just read with these mappings, so that
 * recorder_take() need not read it again. Returns the same values as recorder_end(), or
 * -errno if the processes cannot be listed.
 */
struct recorder_known {
	/* usage of the process; NULL: no process has just been read */
	const struct usage *usage;
	const struct mapping_list *mappings;
	/* the cgroup of the processes, for recorder_end(); may be NULL */
	const struct cgroup *cgroup;
};
int recorder_take(struct recorder *recorder, struct targets *targets,
		  const struct recorder_known *known);

/*
 * Return true if the targets have ended, so that the last
 * recorder_take() has recorded their last sample.
 */
bool recorder_has_ended(const struct recorder *recorder);

/*
 * Return the shortest sampling interval, as sampler_min_interval_ns() does, based on the
 * sample that recorder_take() took last.
 */
uint64_t recorder_min_interval_ns(const struct recorder *recorder,
				  unsigned int per_mille);

/* Return 0, or -errno if the last sample is not in the file. */
int recorder_error(const struct recorder *recorder);

/* Record an event, during a sample or between two samples. Returns 0 or -errno. */
int recorder_add_event(struct recorder *recorder, const struct recorded_event *event);

#endif
