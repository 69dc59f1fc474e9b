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

/* Returns 0 or -errno from recording_reader_open(). */
int replay_open(const char *path, struct replay **ret);
void replay_close(struct replay *replay);

size_t replay_count(const struct replay *replay);

/* Return when a sample was taken. */
uint64_t replay_unix_ms(const struct replay *replay, size_t index);

/* Return the last sample that is not later than unix_ms, or the first sample. */
size_t replay_find(const struct replay *replay, uint64_t unix_ms);

/*
 * Find the sample for a time that a person writes: "2026-11-21T08:15:30Z", with or
 * without a fraction; "+90s" after the first sample; "-5m" before the last one.
 * Returns 0 or -EINVAL.
 */
int replay_find_moment(const struct replay *replay, const char *text, size_t *ret_index);

/*
 * Find the sample before the last recorded kill. Returns false if no kill was recorded.
 */
bool replay_find_kill(struct replay *replay, size_t *ret_index);

/*
 * Read the processes of a sample that match the targets by pid, name or ancestry; all of
 * them if there are no targets. Owners are known where mappings were read in that sample.
 * elapsed_ns counts from the first sample. Returns 0 or -errno.
 */
int replay_read(struct replay *replay, size_t index, const struct targets *targets,
		struct snapshot *ret);

/*
 * Read a process's Rss in bytes by owner, from the last reading of its mappings; unknown
 * if there was none. Meant for samples that are read in ascending order.
 */
int replay_read_owners(struct replay *replay, size_t index, const struct usage *usage,
		       uint64_t ret_bytes[OWNER_COUNT_]);

/*
 * Whether the sample is the first of its session, so that nothing is known of
 * the time before.
 */
bool replay_begins_session(const struct replay *replay, size_t index);

/*
 * Find at most max processes that had the largest Rss at any time. Targets select by pid
 * or name; targets with children select all processes. Returns 0 or -errno.
 */
int replay_find_largest(struct replay *replay, const struct targets *targets,
			struct process *ret, size_t max, size_t *ret_count);

/* Read a process's mappings, with owners, from the last reading of them. */
int replay_read_mappings(struct replay *replay, size_t index,
			 const struct process *process, struct mapping_list *ret);

/*
 * Read the group of a sample, with the names that it had. Returns -ENOENT if
 * none was recorded.
 */
int replay_read_cgroup(struct replay *replay, size_t index, struct cgroup *ret);

/* Read what filled that group. Returns like replay_read_cgroup(). */
int replay_read_figures(struct replay *replay, size_t index, struct oom_figures *ret);

/*
 * Announce that all samples will be read in ascending order, which is much faster. Do not
 * use it while a user looks at a single sample for long.
 */
void replay_scan(struct replay *replay, bool is_on);

/* Like recording_reader_for_each_note(). */
int replay_for_each_note(struct replay *replay,
			 int (*fn)(void *context, const struct recorded_note *note),
			 void *context);

/* In order of time; otherwise like recording_reader_for_each_event(). */
int replay_for_each_event(struct replay *replay,
			  int (*fn)(void *context, const struct recorded_event *event),
			  void *context);

#endif
