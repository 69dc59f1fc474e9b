/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feed - the source of the data on the screen: live processes, a captured tree, or one
 * sample of a recording.
 */
#ifndef MS_UI_DATA_FEED_H
#define MS_UI_DATA_FEED_H

#include "model/cgroup.h"
#include "model/mapping.h"
#include "model/usage.h"
#include "sample/process/targets.h"

struct cgroup_target;
struct feed;
struct ui_options;

struct feed_kind {
	/*
	 * Read the processes into feed->processes, with the values named by `needs` for
	 * the visible ones. Returns 0, or -errno if the processes cannot be listed;
	 * feed->processes then keeps its contents.
	 */
	int (*read_processes)(struct feed *feed, unsigned int needs,
			      const int *visible_pids, size_t visible_count);
	/*
	 * Read one process into the empty snapshot *ret, and its mappings unless
	 * ret_mappings is NULL. Returns 0 (the error member of the usage may be set),
	 * -ESRCH if no process has that pid and start time, or -errno as above.
	 */
	int (*read_process)(struct feed *feed, struct target_pid *target,
			    struct snapshot *ret, struct mapping_list *ret_mappings);
	/*
	 * Open a group. Returns 0, or an error of cgroup_target_open(); the previous
	 * group then stays open. A recording contains at most one group, which is opened
	 * whatever the target is; -ENOENT if there is none.
	 */
	int (*open_group)(struct feed *feed, const struct cgroup_target *target);
	/*
	 * Read the open group and the processes of the level that owns its limit. The
	 * processes are borrowed until the next read. Returns 0, -ESRCH if the group was
	 * removed, -ENOENT if it is missing from this sample of a recording, or -errno.
	 */
	int (*read_group)(struct feed *feed, struct cgroup *ret,
			  const struct snapshot **ret_processes);
	void (*free)(struct feed *feed);
};

struct feed {
	const struct feed_kind *kind;
	const struct snapshot *processes; /* result of the last read; never NULL */
	size_t index;			  /* replay: the sample to read */
};

/* Create a feed for live processes or a captured tree. The options must outlive it. */
struct feed *feed_live_new(const struct ui_options *options);

/* Create a feed for the recording in the options, which must outlive the feed. */
struct feed *feed_replay_new(const struct ui_options *options);

#endif
