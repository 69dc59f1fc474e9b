/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feed - the source of the data on the screen: live processes, a captured
 * tree, or the samples of a recording.
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
	 * Read the processes into feed->processes. For visible processes, also read the
	 * values selected by the bits of `needs`. Return 0 or -errno. If the processes
	 * cannot be listed, feed->processes remains unchanged.
	 */
	int (*read_processes)(struct feed *feed, unsigned int needs,
			      const int *visible_pids, size_t visible_count);
	/*
	 * Read one process into the empty snapshot *ret, and its mappings into
	 * *ret_mappings if the pointer is not NULL. Return 0 (with the error set in the
	 * usage if the memory of the process cannot be read), -ESRCH if no process has
	 * the pid and start time, or another -errno.
	 */
	int (*read_process)(struct feed *feed, struct target_pid *target,
			    struct snapshot *ret, struct mapping_list *ret_mappings);
	/*
	 * Open a cgroup. Return 0 or an error from cgroup_target_open(). On an error,
	 * the previous cgroup stays open. A recording contains at most one cgroup, which
	 * is opened regardless of the target. The error is -ENOENT if the recording
	 * contains no cgroup.
	 */
	int (*open_group)(struct feed *feed, const struct cgroup_target *target);
	/*
	 * Read the open cgroup, and the processes of the cgroup that sets its limit,
	 * which may be an ancestor. The processes are borrowed until the next read.
	 * Return 0, -ESRCH if the cgroup was removed, -ENOENT if a sample of a recording
	 * does not contain the cgroup, or another -errno.
	 */
	int (*read_group)(struct feed *feed, struct cgroup *ret,
			  const struct snapshot **ret_processes);
	void (*free)(struct feed *feed);
};

struct feed {
	const struct feed_kind *kind;
	/* list of processes from the last read; never NULL */
	const struct snapshot *processes;
	size_t index; /* replay: index of the sample to read */
	/* memory of the machine, and the part that programs can still allocate */
	uint64_t machine_bytes, available_bytes;
};

/*
 * Create a feed for live processes or a captured tree. The options must outlive the feed.
 */
struct feed *feed_live_new(const struct ui_options *options);

/* Create a feed for the recording in the options, which must outlive the feed. */
struct feed *feed_replay_new(const struct ui_options *options);

#endif
