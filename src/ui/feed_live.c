/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/feed.h"

#include <errno.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "sample/watch.h"
#include "ui/ui.h"

struct live {
	struct feed feed; /* first: it is what others see of this */
	struct sampler *sampler;
	struct watch *watch;
};

static int read_processes(struct feed *feed, unsigned int needs, const int *visible_pids,
			  size_t visible_count)
{
	struct live *live = (struct live *)feed;
	int r = watch_refresh(live->watch, needs, visible_pids, visible_count);

	feed->processes = watch_snapshot(live->watch);
	return r;
}

static int read_process(struct feed *feed, struct target_pid *target, struct snapshot *ret,
			struct mapping_list *ret_mappings)
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

static void free_live(struct feed *feed)
{
	struct live *live = (struct live *)feed;

	watch_free(live->watch);
	free(live);
}

static const struct feed_kind kind = {
	.read_processes = read_processes,
	.read_process = read_process,
	.free = free_live,
};

struct feed *feed_live_new(const struct ui_options *options)
{
	struct live *live = xcalloc(1, sizeof(*live));

	live->feed.kind = &kind;
	live->sampler = options->sampler;
	live->watch = watch_new(options->sampler, options->targets, options->max_share_per_mille);
	live->feed.processes = watch_snapshot(live->watch);
	return &live->feed;
}
