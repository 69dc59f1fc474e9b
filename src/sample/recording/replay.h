/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay - present the samples of a recording as if they had just been taken: states and
 * owners are classified anew from the recorded facts.
 */
#ifndef MS_SAMPLE_RECORDING_REPLAY_H
#define MS_SAMPLE_RECORDING_REPLAY_H

#include "classify/cgroup/figures.h"
#include "sample/process/sampler.h"
#include "store/recording/read.h"

struct replay;

/* Open a recording. Returns 0 or -errno from recording_reader_open(). */
int replay_open(const char *path, struct replay **ret);
void replay_close(struct replay *replay);

size_t replay_count(const struct replay *replay);

/* Return the wall-clock time at which a sample was taken. */
uint64_t replay_unix_ms(const struct replay *replay, size_t index);

/*
 * Find the sample for a time as a user writes it: "2026-11-21T08:15:30Z",
 * with or without a fraction; "+90s" after the first sample; "-5m" before
 * the last one. Returns 0 or -EINVAL.
 */
int replay_find_moment(const struct replay *replay, const char *text, size_t *ret_index);

/*
 * Find the sample before the last recorded kill. Returns false if no kill was recorded.
 */
bool replay_find_kill(struct replay *replay, size_t *ret_index);

/*
 * Read the processes of a sample that match the targets by pid, name or
 * ancestry; all processes if there are no targets. Owners are known only for
 * processes whose mappings were read in this sample. elapsed_ns is counted from
 * the first sample. Returns 0 or -errno.
 */
int replay_read(struct replay *replay, size_t index, const struct targets *targets,
		struct snapshot *ret);

/*
 * Find the last sample, at or before *index, with a process that matches the targets by
 * pid or name. Returns 0, -ENOENT if there is no such sample, or another -errno.
 */
int replay_find_last(struct replay *replay, const struct targets *targets, size_t *index);

/*
 * Read the Rss of a process in bytes by owner, from the last reading of
 * its mappings; unknown if the mappings were never read. Intended for
 * reading samples in ascending order.
 */
int replay_read_owners(struct replay *replay, size_t index, const struct usage *usage,
		       uint64_t ret_bytes[OWNER_COUNT_]);

/*
 * Return true if the sample is the first of its session, so that
 * nothing is known about the time before.
 */
bool replay_begins_session(const struct replay *replay, size_t index);

/*
 * Find at most max processes, those with the largest peak Rss at any time. Targets select
 * by pid or name, as in replay_read(); targets with children select all processes.
 * Returns 0 or -errno.
 */
int replay_find_largest(struct replay *replay, const struct targets *targets,
			struct process *ret, size_t max, size_t *ret_count);

/* Read the mappings of a process, with owners, from their last reading. */
int replay_read_mappings(struct replay *replay, size_t index,
			 const struct process *process, struct mapping_list *ret);

/*
 * Read the cgroup of a sample and its recorded names. Returns
 * -ENOENT if no cgroup was recorded.
 */
int replay_read_cgroup(struct replay *replay, size_t index, struct cgroup *ret);

/*
 * Compute what filled the cgroup of a sample. Returns the same values as
 * replay_read_cgroup().
 */
int replay_read_figures(struct replay *replay, size_t index, struct oom_figures *ret);

/*
 * Announce that all samples will be read in ascending order, which makes reading much
 * faster. Turn this mode off while a user looks at a single sample for long.
 */
void replay_scan(struct replay *replay, bool is_on);

/* Call fn for each note, like recording_reader_for_each_note(). */
int replay_for_each_note(struct replay *replay,
			 int (*fn)(void *context, const struct recorded_note *note),
			 void *context);

/*
 * Call fn for each event in chronological order; otherwise the same as
 * recording_reader_for_each_event().
 */
int replay_for_each_event(struct replay *replay,
			  int (*fn)(void *context, const struct recorded_event *event),
			  void *context);

#endif
