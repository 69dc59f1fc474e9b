/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group_fixture - groups that never were, for the screens: the processes of the captured
 * system are in them.
 */
#ifndef MS_TESTS_GROUP_FIXTURE_H
#define MS_TESTS_GROUP_FIXTURE_H

#include "model/cgroup.h"
#include "model/usage.h"
#include "ui/data.h"
#include "ui/feed.h"

/*
 * "limited" (version 1, by a group above), "hidden" (version 2, with names, and memory that
 * is in no working set), "growing" (the same, with 1 MiB more each time), "unlimited",
 * "empty", or "removed" (after three times). number: how often it was read before. Adds
 * what has grown to the first of the processes. Returns 0, -ESRCH, or -EINVAL if there is
 * none of that name.
 */
int group_fixture_make(const char *name, unsigned int number, struct cgroup *ret,
		       struct snapshot *processes);

/* A feed that has such a group, of every process. All 0: none. */
struct made_group {
	const char *name; /* borrowed */
	uint64_t first_ns;
	unsigned int read_count; /* each a second after the one before */
	unsigned int process_read_count; /* likewise */
	const struct feed_kind *before;
	struct sampler *sampler;
	struct feed_kind kind; /* that of the feed, but for this */
	struct snapshot processes;
};

/* From now on the data's feed has it. */
void made_group_begin(struct made_group *group, const char *name, struct data *d,
		      uint64_t first_ns);
void made_group_release(struct made_group *group);

#endif
