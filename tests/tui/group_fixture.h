/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group_fixture - made-up cgroups for the screens. They contain the
 * processes of the captured system.
 */
#ifndef MS_TESTS_GROUP_FIXTURE_H
#define MS_TESTS_GROUP_FIXTURE_H

#include "model/cgroup.h"
#include "model/usage.h"
#include "ui/data/data.h"
#include "ui/data/feed.h"

/*
 * Make the group that name selects: "limited" (version 1, by an ancestor's limit),
 * "hidden" (version 2, with names, and with memory that is not in the working set),
 * "growing" (like "hidden", with 1 MiB more at each read), "unlimited", "empty", or
 * "removed" (after three reads). number: how often the group was read before. Adds the
 * growth to the first of the processes. Returns 0, -ESRCH if the group is gone, or
 * -EINVAL if the name is unknown.
 */
int group_fixture_make(const char *name, unsigned int number, struct cgroup *ret,
		       struct snapshot *processes);

/* A feed in which every process is in a made-up group. All 0: no group. */
struct made_group {
	const char *name; /* borrowed */
	uint64_t first_ns;
	unsigned int read_count; /* each read is a second after the previous one */
	/* number of process reads */
	unsigned int process_read_count;
	const struct feed_kind *before;
	struct sampler *sampler;
	struct feed_kind kind; /* the original feed with the group's functions */
	struct snapshot processes;
};

/* Make d's feed report the group from now on. */
void made_group_begin(struct made_group *group, const char *name, struct data *d,
		      uint64_t first_ns);
void made_group_release(struct made_group *group);

#endif
