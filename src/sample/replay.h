/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay - samples of a recording as if they had just been taken: from its facts states
 * and owners are told anew.
 */
#ifndef MS_SAMPLE_REPLAY_H
#define MS_SAMPLE_REPLAY_H

#include "classify/oom_figures.h"
#include "sample/sampler.h"
#include "store/recording_read.h"

struct replay;

/* Returns 0 or -errno of recording_reader_open(). */
int replay_open(const char *path, struct replay **ret);
void replay_close(struct replay *replay);

size_t replay_count(const struct replay *replay);

/* When a sample was taken. */
uint64_t replay_unix_ms(const struct replay *replay, size_t index);

/* The last sample that is not later than that, or the first one. */
size_t replay_find(const struct replay *replay, uint64_t unix_ms);

/*
 * The same of a moment that a person means: "2026-11-21T08:15:30Z", with or without a
 * fraction; "+90s" after the first sample, "-5m" before the last one. Returns 0 or -EINVAL.
 */
int replay_find_moment(const struct replay *replay, const char *text, size_t *ret_index);

/* The sample before the last kill that was recorded. False if there was none. */
bool replay_find_kill(struct replay *replay, size_t *ret_index);

/*
 * Those of its processes that are meant, all of them without targets: by pid, name, and
 * their children. Owners are known where mappings were read in that sample. elapsed_ns is
 * since the first sample. Returns 0 or -errno.
 */
int replay_read(struct replay *replay, size_t index, const struct targets *targets,
		struct snapshot *ret);

/*
 * Rss by owner of one of them, as its mappings were read last; unknown where they never were.
 * For samples that are read as they rise.
 */
int replay_read_owners(struct replay *replay, size_t index, const struct usage *usage,
		       uint64_t ret_bytes[OWNER_COUNT_]);

/* Whether a sample is the first one of its session: nothing is known of the time before. */
bool replay_begins_session(const struct replay *replay, size_t index);

/*
 * Of those that are meant by pid or name, and of all with their children, so many at most
 * that had most Rss at some time. Returns 0 or -errno.
 */
int replay_find_largest(struct replay *replay, const struct targets *targets,
			struct process *ret, size_t max, size_t *ret_count);

/* The mappings of one of them, with owners, as of when they were read last. */
int replay_read_mappings(struct replay *replay, size_t index, const struct process *process,
			 struct mapping_list *ret);

/* The group of a sample, with the names that it had. -ENOENT: none was recorded. */
int replay_read_cgroup(struct replay *replay, size_t index, struct cgroup *ret);

/* What filled that group. Returns as above. */
int replay_read_figures(struct replay *replay, size_t index, struct oom_figures *ret);

/*
 * Samples will be read as they rise, all of them: that is much faster. Not while somebody
 * looks at one of them for long.
 */
void replay_scan(struct replay *replay, bool is_on);

/* As recording_reader_for_each_note(). */
int replay_for_each_note(struct replay *replay,
			 int (*fn)(void *context, const struct recorded_note *note),
			 void *context);

/* By time; as recording_reader_for_each_event(). */
int replay_for_each_event(struct replay *replay,
			  int (*fn)(void *context, const struct recorded_event *event),
			  void *context);

#endif
