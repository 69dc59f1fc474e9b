/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch_list - list the targets of a watch at each refresh. If all processes are targets,
 * a lister caches what it knows about them (proc/process/lister.h).
 */
#ifndef MS_SAMPLE_PROCESS_WATCH_LIST_H
#define MS_SAMPLE_PROCESS_WATCH_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "sample/process/sampler.h"

struct lister;

struct watch_list {
	struct sampler *sampler;
	struct targets *targets;
	/* lister of all processes, or NULL if sampler_list() lists the targets */
	struct lister *lister;
	bool has_rss; /* true if the last list contains the Rss from statm */
};

/*
 * Initialize a list. No lister is used for a captured tree, nor on a kernel whose statm
 * is not exact.
 */
void watch_list_init(struct watch_list *list, struct sampler *sampler,
		     struct targets *targets);
void watch_list_release(struct watch_list *list);

/*
 * List the targets like sampler_list(). The members of struct process are up to date for
 * the processes in pids, and may be several refreshes old for others.
 */
int watch_list_read(struct watch_list *list, unsigned int needs, const int *pids,
		    size_t count, struct snapshot *ret);

#endif
