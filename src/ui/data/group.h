/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group - a cgroup: how its processes use its limit, and how its memory need has grown
 * since the user opened it.
 */
#ifndef MS_UI_DATA_GROUP_H
#define MS_UI_DATA_GROUP_H

#include "classify/cgroup/figures.h"
#include "ui/data/seen_growth.h"

struct cgroup_target;
struct data;

/* A process that is in the cgroup. */
struct group_member {
	int pid;
	uint64_t start_ticks;
	bool is_there;
	struct seen_growth need;
};

struct data_group {
	bool is_open; /* true if a cgroup has been opened */
	/* true if the cgroup has been read, so the members below are valid */
	bool is_read;
	bool is_gone; /* true if the cgroup was removed; its last values remain */
	int error;    /* -errno from opening or reading the cgroup, or 0 */
	struct cgroup cgroup;
	/*
	 * processes of the cgroup that sets the limit, which may be an ancestor; borrowed
	 * from the feed
	 */
	const struct snapshot *processes;
	struct oom_figures figures;
	struct seen_growth need;
	struct group_member *members;
	size_t member_count, member_capacity;
	uint64_t taken_ns, cost_ns;
	/*
	 * During replay: index of the sample on the screen, which is valid if is_read is
	 * true, and maximum number of samples from which growth is computed.
	 */
	size_t index, growth_samples;
};

void data_group_init(struct data_group *g);
void data_group_release(struct data_group *g);

/*
 * Open a cgroup. Return 0, or an error that feed.h describes for open_group(). On an
 * error, the previous cgroup stays open.
 */
int data_group_open(struct data *d, const struct cgroup_target *target);

void data_group_refresh(struct data *d);

/*
 * Return the memory need of a process, in bytes, at which the cgroup would reach its
 * limit if no other process grew. Return BYTES_UNKNOWN if the process is not in the
 * cgroup, or if the process and the cgroup were not read within 10 seconds of each other.
 */
uint64_t data_group_limit_of(const struct data_group *g, const struct usage *u);

/* Return the growth of the memory need of one process in the cgroup. */
const struct growth *data_group_growth_of(const struct data_group *g,
					  const struct process *p);

#endif
