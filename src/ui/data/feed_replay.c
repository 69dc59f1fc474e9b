/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/data/feed.h"

#include <errno.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "sample/recording/replay.h"
#include "ui/data/options.h"

struct past {
	/*
	 * Must be the first member, because pointers to it are cast to pointers to
	 * the whole struct.
	 */
	struct feed feed;
	const struct ui_options *options;
	struct snapshot processes, group_processes;
};

/*
 * Set the times in a sample to the time since the first sample of the recording. The
 * monotonic clock cannot be used, because it may have restarted between two sessions.
 */
static void set_times(struct snapshot *s)
{
	s->taken_ns = s->elapsed_ns;
	for (size_t i = 0; i < s->count; i++)
		s->usages[i].taken_ns = s->elapsed_ns;
}

static int read_processes(struct feed *feed, unsigned int needs, const int *visible_pids,
			  size_t visible_count)
{
	struct past *past = (struct past *)feed;
	int r;

	(void)needs;
	(void)visible_pids;
	(void)visible_count;
	r = replay_read(past->options->replay, feed->index, past->options->targets,
			&past->processes);
	set_times(&past->processes);
	return r;
}

static bool is_target(const struct target_pid *target, const struct snapshot *s)
{
	return s->count == 1 && s->usages[0].process.start_ticks == target->start_ticks;
}

static int read_process(struct feed *feed, struct target_pid *target,
			struct snapshot *ret, struct mapping_list *ret_mappings)
{
	struct past *past = (struct past *)feed;
	struct replay *replay = past->options->replay;
	struct targets targets = { .pids = target, .pid_count = 1 };
	int r = replay_read(replay, feed->index, &targets, ret);

	if (r < 0)
		return r;
	set_times(ret);
	if (!is_target(target, ret)) {
		snapshot_clear(ret);
		return -ESRCH;
	}
	if (!ret_mappings)
		return 0;
	return replay_read_mappings(replay, feed->index, &ret->usages[0].process,
				    ret_mappings);
}

/* Open the recording's only cgroup, regardless of the target. */
static int open_group(struct feed *feed, const struct cgroup_target *target)
{
	struct past *past = (struct past *)feed;
	struct cgroup cgroup;
	int r;

	(void)target;
	cgroup_init(&cgroup);
	r = replay_read_cgroup(past->options->replay, feed->index, &cgroup);
	cgroup_release(&cgroup);
	return r;
}

static int read_group(struct feed *feed, struct cgroup *ret,
		      const struct snapshot **ret_processes)
{
	static const struct targets all;
	struct past *past = (struct past *)feed;
	struct replay *replay = past->options->replay;
	int r = replay_read_cgroup(replay, feed->index, ret);

	if (r == 0)
		r = replay_read(replay, feed->index, &all, &past->group_processes);
	if (r < 0)
		return r;
	set_times(&past->group_processes);
	ret->taken_ns = past->group_processes.taken_ns;
	*ret_processes = &past->group_processes;
	return 0;
}

static void free_past(struct feed *feed)
{
	struct past *past = (struct past *)feed;

	snapshot_release(&past->processes);
	snapshot_release(&past->group_processes);
	free(past);
}

static const struct feed_kind kind = {
	.read_processes = read_processes,
	.read_process = read_process,
	.open_group = open_group,
	.read_group = read_group,
	.free = free_past,
};

struct feed *feed_replay_new(const struct ui_options *options)
{
	struct past *past = xcalloc(1, sizeof(*past));

	past->feed.kind = &kind;
	past->feed.machine_bytes = past->feed.available_bytes = BYTES_UNKNOWN;
	past->feed.index = options->replay_index;
	past->options = options;
	snapshot_init(&past->processes);
	snapshot_init(&past->group_processes);
	past->feed.processes = &past->processes;
	return &past->feed;
}
