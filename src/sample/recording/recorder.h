/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorder - write samples to a recording. Each sample contains the totals of every
 * process. Mappings are recorded less often, so that reading the mappings of a process
 * takes at most a given share of the elapsed time.
 */
#ifndef MS_SAMPLE_RECORDING_RECORDER_H
#define MS_SAMPLE_RECORDING_RECORDER_H

#include "sample/process/sampler.h"
#include "store/recording/recording.h"

struct recorder;

/*
 * Flags for the figures that every recorded sample needs. Callers must OR them with their
 * own needs when they take a sample.
 */
#define RECORDER_NEEDS (NEED_STAT | NEED_UID | NEED_COMMAND | NEED_ROLLUP)

/*
 * Open a recorder. The sampler is borrowed and passes all mappings that it reads to the
 * recorder. Return 0 or -errno from recording_open().
 */
int recorder_open(const char *path, const struct recording_bounds *bounds,
		  unsigned int share_per_mille, struct sampler *sampler,
		  struct recorder **ret);
/*
 * Set the maximum share of each process's time for reading its mappings. With 0, read the
 * mappings once, and later only on the caller's request.
 */
void recorder_set_share(struct recorder *recorder, unsigned int share_per_million);
void recorder_close(struct recorder *recorder);

/*
 * Record notes about each process of a cgroup from now on: its cgroup and container, and
 * the options of its language runtime in its environment. fs is borrowed.
 */
void recorder_set_notes(struct recorder *recorder, const struct procfs *fs);

/* Begin recording the sample that the caller is about to take. */
void recorder_begin(struct recorder *recorder);

/*
 * Write the current sample to the recording, with the cgroup of its processes, which may
 * be NULL. Return 0, or the first -errno since recorder_begin(). After an error, the
 * sample is missing from the file, but later samples may succeed.
 */
int recorder_end(struct recorder *recorder, const struct snapshot *snapshot,
		 const struct cgroup *cgroup);

/* Add a process and the mappings that the caller has just read to the current sample. */
void recorder_add(struct recorder *recorder, const struct usage *usage,
		  const struct mapping_list *mappings);

/*
 * Take and record a complete sample of the targets, for callers that do not take samples
 * themselves. `known` is a process whose mappings the caller has just read, so that
 * recorder_take() need not read it again. Return the same values as recorder_end(), or
 * -errno if the processes cannot be listed.
 */
struct recorder_known {
	/* usage of the process that the caller has read, or NULL */
	const struct usage *usage;
	const struct mapping_list *mappings;
	/* cgroup of the processes, as for recorder_end(); may be NULL */
	const struct cgroup *cgroup;
};
int recorder_take(struct recorder *recorder, struct targets *targets,
		  const struct recorder_known *known);

/*
 * Return true if all targets have ended and the last recorder_take() has recorded their
 * last sample.
 */
bool recorder_has_ended(const struct recorder *recorder);

/*
 * Return the minimum sampling interval, computed by sampler_min_interval_ns() from the
 * last sample of recorder_take().
 */
uint64_t recorder_min_interval_ns(const struct recorder *recorder,
				  unsigned int per_mille);

/* Return 0, or -errno if the last sample could not be written to the file. */
int recorder_error(const struct recorder *recorder);

/* Record an event, whether or not a sample is in progress. Return 0 or -errno. */
int recorder_add_event(struct recorder *recorder, const struct recorded_event *event);

#endif
