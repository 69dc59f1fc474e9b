/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data_group - a group of processes: what fills it up to its limit, and how that has been
 * growing since it was opened.
 */
#ifndef MS_UI_DATA_GROUP_H
#define MS_UI_DATA_GROUP_H

#include "classify/oom_figures.h"
#include "sample/group_processes.h"
#include "ui/seen_growth.h"

struct data;

/* A process that has been in it. */
struct group_member {
	int pid;
	uint64_t start_ticks;
	bool is_there;
	struct seen_growth need;
};

struct data_group {
	bool is_open; /* there is one */
	bool is_read; /* what follows is known */
	bool is_gone; /* it was removed: this is what was read last */
	int error;    /* 0, or the -errno that kept it from being opened or read */
	struct cgroup cgroup;
	const struct snapshot *processes; /* of the level that owns the limit; the feed's */
	struct oom_figures figures;
	struct seen_growth need;
	struct group_member *members;
	size_t member_count, member_capacity;
	uint64_t taken_ns, cost_ns;
	/* Of a recording: the sample that is shown, if it is_read, and of how many growth is. */
	size_t index, growth_samples;
};

void data_group_init(struct data_group *g);
void data_group_release(struct data_group *g);

/*
 * From now on, this is the group. Returns 0, or -errno as of feed.h; then the one before
 * stays.
 */
int data_group_open(struct data *d, const struct cgroup_target *target);

void data_group_refresh(struct data *d);

/* g->cgroup was read, and these are its processes: what follows from that. */
void data_group_update(struct data_group *g, const struct snapshot *processes);

/*
 * How much one of its processes may need before the limit is met, if nobody else grows.
 * Unknown of others, and while the group was not read at about the same time.
 */
uint64_t data_group_limit_of(const struct data_group *g, const struct usage *u);

/* How the need of one of its processes has been. */
const struct growth *data_group_growth_of(const struct data_group *g, const struct process *p);

#endif
