/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/data/feed.h"

#include <errno.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "proc/system/meminfo.h"
#include "sample/process/cgroup_sampler.h"
#include "sample/process/watch.h"
#include "ui/data/options.h"

struct live {
	/*
	 * Must be the first member, because pointers to it are cast to pointers to
	 * the whole struct.
	 */
	struct feed feed;
	const struct ui_options *options;
	struct sampler *sampler;
	struct watch *watch;
	struct cgroup_sampler *group; /* the open cgroup, or NULL */
	/*
	 * watches the processes of the cgroup; NULL until the cgroup contains a process
	 */
	struct watch *group_watch;
	struct snapshot no_processes;
};

/*
 * Amounts to read for each process of a cgroup. LazyFree is read per mapping, because
 * some of its pages may be shared.
 */
#define GROUP_NEEDS (NEED_STAT | NEED_ROLLUP | NEED_STATES)

/* Read the memory of the machine, which stays unknown if it cannot be read. */
static void read_machine(struct live *live)
{
	const struct procfs *fs = sampler_procfs(live->sampler);
	struct feed *feed = &live->feed;

	feed->machine_bytes = feed->available_bytes = BYTES_UNKNOWN;
	if (proc_meminfo_read(fs, "MemTotal", &feed->machine_bytes) == 0)
		proc_meminfo_read(fs, "MemAvailable", &feed->available_bytes);
}

static int read_processes(struct feed *feed, unsigned int needs, const int *visible_pids,
			  size_t visible_count)
{
	struct live *live = (struct live *)feed;
	int r = watch_refresh(live->watch, needs, visible_pids, visible_count);

	feed->processes = watch_snapshot(live->watch);
	read_machine(live);
	return r;
}

static int read_process(struct feed *feed, struct target_pid *target,
			struct snapshot *ret, struct mapping_list *ret_mappings)
{
	struct live *live = (struct live *)feed;
	struct targets targets = { .pids = target, .pid_count = 1 };
	int r = sampler_list(live->sampler, &targets, NEED_STAT | NEED_UID, ret);

	if (r < 0)
		return r;
	if (ret->count == 0)
		return -ESRCH;
	r = sampler_read_mappings(live->sampler, &ret->usages[0], ret_mappings);
	return r == -ESRCH ? r : 0;
}

static void close_group(struct live *live)
{
	watch_free(live->group_watch);
	live->group_watch = NULL;
	cgroup_sampler_free(live->group);
	live->group = NULL;
}

static int open_group(struct feed *feed, const struct cgroup_target *target)
{
	struct live *live = (struct live *)feed;
	struct cgroup_sampler *group = NULL;
	int r = cgroup_sampler_open(live->options->procfs, live->sampler, target, &group);

	if (r < 0)
		return r;
	close_group(live);
	live->group = group;
	return 0;
}

static int read_group(struct feed *feed, struct cgroup *ret,
		      const struct snapshot **ret_processes)
{
	struct live *live = (struct live *)feed;
	struct targets *targets;
	int r = cgroup_sampler_read(live->group, ret);

	if (r < 0)
		return r;
	targets = cgroup_sampler_targets(live->group);
	if (!targets) {
		*ret_processes = &live->no_processes;
		return 0;
	}
	if (!live->group_watch)
		live->group_watch = watch_new(live->sampler, targets,
					      live->options->max_share_per_mille);
	r = watch_refresh(live->group_watch, GROUP_NEEDS, ret->pids, ret->pid_count);
	*ret_processes = watch_snapshot(live->group_watch);
	return r;
}

static void free_live(struct feed *feed)
{
	struct live *live = (struct live *)feed;

	close_group(live);
	watch_free(live->watch);
	free(live);
}

static const struct feed_kind kind = {
	.read_processes = read_processes,
	.read_process = read_process,
	.open_group = open_group,
	.read_group = read_group,
	.free = free_live,
};

struct feed *feed_live_new(const struct ui_options *options)
{
	struct live *live = xcalloc(1, sizeof(*live));

	live->feed.kind = &kind;
	live->feed.machine_bytes = live->feed.available_bytes = BYTES_UNKNOWN;
	live->options = options;
	live->sampler = options->sampler;
	snapshot_init(&live->no_processes);
	live->watch = watch_new(options->sampler, options->targets,
				options->max_share_per_mille);
	live->feed.processes = watch_snapshot(live->watch);
	return &live->feed;
}
