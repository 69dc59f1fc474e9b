/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay - present the samples of a recording as if they had just been taken. The states
 * and owners of memory are computed again from the recorded figures.
 */
#ifndef MS_SAMPLE_RECORDING_REPLAY_H
#define MS_SAMPLE_RECORDING_REPLAY_H

#include "classify/cgroup/figures.h"
#include "sample/process/sampler.h"
#include "store/recording/read.h"

struct replay;

/* Open a recording. Return 0 or -errno from recording_reader_open(). */
int replay_open(const char *path, struct replay **ret);
void replay_close(struct replay *replay);

size_t replay_count(const struct replay *replay);

/* Return the wall-clock time at which a sample was taken. */
uint64_t replay_unix_ms(const struct replay *replay, size_t index);

/*
 * Find the sample for a time as entered by users: "2026-11-21T08:15:30Z", with or
 * without a fraction; "+90s" after the first sample; "-5m" before the last sample;
 * "first"; "last".
 * Return 0 or -EINVAL.
 */
int replay_find_moment(const struct replay *replay, const char *text, size_t *ret_index);

/*
 * Find the last sample before the last recorded kill. Return false if no kill
 * was recorded.
 */
bool replay_find_kill(struct replay *replay, size_t *ret_index);

/*
 * Read the processes of a sample that match the targets by pid, name or ancestry.
 * Without targets, read all processes. Owners are known only for processes whose
 * mappings were read in this sample. elapsed_ns is the time since the first sample.
 * Return 0 or -errno.
 */
int replay_read(struct replay *replay, size_t index, const struct targets *targets,
		struct snapshot *ret);

/*
 * Search backwards from *index for a sample with a process that matches the targets by
 * pid or name. Return 0, -ENOENT if there is no such sample, or another -errno.
 */
int replay_find_last(struct replay *replay, const struct targets *targets, size_t *index);

/*
 * Read the Rss of a process by owner in bytes, based on the last reading of its mappings.
 * The result is unknown if its mappings were never read. Reading samples in ascending
 * order is fast.
 */
int replay_read_owners(struct replay *replay, size_t index, const struct usage *usage,
		       uint64_t ret_bytes[OWNER_COUNT_]);

/*
 * Return true if the sample is the first of its session, so the time before it was
 * not recorded.
 */
bool replay_begins_session(const struct replay *replay, size_t index);

/*
 * Find the processes with the largest peak Rss in the recording, at most max of them.
 * Targets select processes by pid or name, as in replay_read(); targets that include
 * children select all processes. Return 0 or -errno.
 */
int replay_find_largest(struct replay *replay, const struct targets *targets,
			struct process *ret, size_t max, size_t *ret_count);

/*
 * Read the mappings of a process and their owners, as of the last reading of
 * the mappings.
 */
int replay_read_mappings(struct replay *replay, size_t index,
			 const struct process *process, struct mapping_list *ret);

/*
 * Read the cgroup of a sample and the recorded names of its container and pod. Return
 * -ENOENT if no cgroup was recorded.
 */
int replay_read_cgroup(struct replay *replay, size_t index, struct cgroup *ret);

/*
 * Compute the memory figures of a sample's cgroup. Return the same values as
 * replay_read_cgroup().
 */
int replay_read_figures(struct replay *replay, size_t index, struct oom_figures *ret);

/*
 * Announce that all samples will be read in ascending order, which makes reading much
 * faster. Turn this mode off when a single sample is shown for a long time.
 */
void replay_scan(struct replay *replay, bool is_on);

/* Call fn for each note in the recording, as recording_reader_for_each_note() does. */
int replay_for_each_note(struct replay *replay,
			 int (*fn)(void *context, const struct recorded_note *note),
			 void *context);

/*
 * Call fn for each event in chronological order, as
 * recording_reader_for_each_event() does.
 */
int replay_for_each_event(struct replay *replay,
			  int (*fn)(void *context, const struct recorded_event *event),
			  void *context);

#endif
