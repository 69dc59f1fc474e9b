/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feed - where the screen's figures come from: processes that run, or a recording, as of
 * the moment that is shown.
 */
#ifndef MS_UI_FEED_H
#define MS_UI_FEED_H

#include "model/cgroup.h"
#include "model/mapping.h"
#include "model/usage.h"
#include "sample/targets.h"

struct cgroup_target;
struct feed;
struct ui_options;

struct feed_kind {
	/*
	 * The processes, with what these needs have of those that are visible. Returns 0,
	 * or -errno if they cannot be listed, and what was known stays.
	 */
	int (*read_processes)(struct feed *feed, unsigned int needs, const int *visible_pids,
			      size_t visible_count);
	/*
	 * One process and its mappings, which may be NULL; *ret is empty before. Returns 0
	 * (its error may be set), -ESRCH when there is none of that pid and start, or
	 * -errno as above.
	 */
	int (*read_process)(struct feed *feed, struct target_pid *target, struct snapshot *ret,
			    struct mapping_list *ret_mappings);
	/*
	 * From now on this is the group. Returns 0, or -errno of cgroup_target_open(), and it
	 * is the one that was before. A recording has one at most, whoever is asked for, or
	 * -ENOENT.
	 */
	int (*open_group)(struct feed *feed, const struct cgroup_target *target);
	/*
	 * Read it, and the processes of the level that owns the limit, which are borrowed
	 * until the next read. Returns 0, -ESRCH if it was removed, -ENOENT if it is not in
	 * this sample of a recording, or -errno.
	 */
	int (*read_group)(struct feed *feed, struct cgroup *ret,
			  const struct snapshot **ret_processes);
	void (*free)(struct feed *feed);
};

struct feed {
	const struct feed_kind *kind;
	const struct snapshot *processes; /* what is known of them; never NULL */
	size_t index;			  /* of a recording: the sample to be read */
};

/* Processes that run, or a captured tree. The options must outlive it. */
struct feed *feed_live_new(const struct ui_options *options);

/* The recording that the options name. */
struct feed *feed_replay_new(const struct ui_options *options);

#endif
