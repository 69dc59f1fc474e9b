/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/process/watch_list.h"

#include "base/clock.h"
#include "proc/process/lister.h"
#include "proc/process/statm.h"

void watch_list_init(struct watch_list *list, struct sampler *sampler,
		     struct targets *targets)
{
	const struct procfs *fs = sampler_procfs(sampler);

	*list = (struct watch_list){ .sampler = sampler, .targets = targets };
	if (targets_are_all(targets) && !fs->is_foreign && proc_statm_is_exact())
		list->lister = lister_new(fs);
}

void watch_list_release(struct watch_list *list)
{
	lister_free(list->lister);
	list->lister = NULL;
}

static int add_process(void *context, const struct process *p)
{
	snapshot_add(context)->process = *p;
	return 0;
}

int watch_list_read(struct watch_list *list, unsigned int needs, const int *pids,
		    size_t count, struct snapshot *ret)
{
	list->has_rss = list->lister && targets_are_all(list->targets);
	if (!list->has_rss)
		return sampler_list(list->sampler, list->targets, needs, ret);
	snapshot_clear(ret);
	ret->taken_ns = clock_now_ns();
	ret->unix_ms = clock_unix_ms();
	return lister_read(list->lister, pids, count, add_process, ret);
}
