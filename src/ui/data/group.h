/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group - a cgroup: how its processes use up its limit, and how its need has grown
 * since the cgroup was opened.
 */
#ifndef MS_UI_DATA_GROUP_H
#define MS_UI_DATA_GROUP_H

#include "classify/cgroup/figures.h"
#include "ui/data/seen_growth.h"

struct cgroup_target;
struct data;

/* A process of the group. */
struct group_member {
	int pid;
	uint64_t start_ticks;
	bool is_there;
	struct seen_growth need;
};

struct data_group {
	bool is_open; /* a group has been opened */
	bool is_read; /* the members below are valid */
	bool is_gone; /* the group was removed; the last values remain */
	int error;    /* 0, or the -errno of the failed open or read */
	struct cgroup cgroup;
	/* processes of the level that owns the limit; owned by the feed */
	const struct snapshot *processes;
	struct oom_figures figures;
	struct seen_growth need;
	struct group_member *members;
	size_t member_count, member_capacity;
	uint64_t taken_ns, cost_ns;
	/*
	 * Replay: the sample shown (valid if is_read), and how many samples to
	 * use for growth.
	 */
	size_t index, growth_samples;
};

void data_group_init(struct data_group *g);
void data_group_release(struct data_group *g);

/*
 * Open this group. Returns 0, or a -errno described in feed.h. The previous group stays
 * open on error.
 */
int data_group_open(struct data *d, const struct cgroup_target *target);

void data_group_refresh(struct data *d);

/* Update the other members after g->cgroup has been read. `processes` is borrowed. */
void data_group_update(struct data_group *g, const struct snapshot *processes);

/*
 * Return the need, in bytes, at which one process of the group makes the group reach its
 * limit if no other process grows. Returns BYTES_UNKNOWN if the process is not in the
 * group, or if the two were not read within 10 seconds of each other.
 */
uint64_t data_group_limit_of(const struct data_group *g, const struct usage *u);

/* Return the growth of the need of one process of the group. */
const struct growth *data_group_growth_of(const struct data_group *g,
					  const struct process *p);

#endif
