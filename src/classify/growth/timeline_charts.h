/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline_charts - the contents of a recording's page: charts over time,
 * and events. Plain data.
 */
#ifndef MS_CLASSIFY_GROWTH_TIMELINE_CHARTS_H
#define MS_CLASSIFY_GROWTH_TIMELINE_CHARTS_H

#include "classify/growth/timeline.h"
#include "model/matrix.h"

enum chart_kind {
	CHART_GROUP, /* figures of the cgroup, with its usage as the total */
	/*
	 * all processes together, by owner; the total is Rss, as
	 * in the charts that follow
	 */
	CHART_OWNERS,
	CHART_STATES,
	CHART_PROCESSES, /* the largest processes, and the sum of the others */
	CHART_PROCESS,	 /* memory of one process by owner */
	CHART_KIND_COUNT_
};

/* The values in a row of a CHART_GROUP chart. */
enum group_value {
	GROUP_LIVE_ANON,
	GROUP_SHMEM,
	GROUP_KERNEL,
	GROUP_SOCK,
	GROUP_LAZYFREE,
	GROUP_SLAB_RECLAIMABLE,
	GROUP_FILE,
	GROUP_LIMIT, /* limit of the cgroup; unknown if there is none */
	GROUP_NEED,
	GROUP_HIDDEN,
	GROUP_WORKING_SET,
	GROUP_SWAP,
	GROUP_VALUE_COUNT_
};

/*
 * Indexes of the values in charts by owner, after the owners themselves. The owners are
 * as of the last reading of the mappings.
 */
enum owners_value {
	OWNERS_PSS = OWNER_COUNT_,
	OWNERS_SWAP,
	OWNERS_LAZYFREE,
	OWNERS_VALUE_COUNT_
};

/*
 * Maximum number of processes with charts of their own. All
 * other processes appear as one sum.
 */
#define CHARTED_PROCESSES_MAX 8

struct timeline_chart {
	enum chart_kind kind;
	/* name of the charted process, such as "redis-server (1234)", or NULL; owned */
	char *title;
	struct timeline timeline;
};

struct timeline_event {
	uint64_t unix_ms;
	int pid;	   /* 0: none */
	char *kind, *text; /* kind and text of the event; owned, text may be NULL */
};

/* Only the first events are kept; events_left_out counts the others. */
#define TIMELINE_EVENTS_MAX 500

struct timeline_charts {
	uint64_t begin_ms, end_ms;
	size_t sample_count;
	/* path of the recorded cgroup; owned, NULL: no cgroup was recorded */
	char *group_path;
	/* such as "container app of pod shop/web-0"; owned, NULL: unknown */
	char *group_names;
	/* Why processes ended, in several lines; owned, NULL: not determined. */
	char *verdict;
	struct timeline_chart *charts; /* charts without rows are not shown */
	size_t chart_count;
	/* Names of the values in CHART_PROCESSES. Owned; the first NULL ends the list. */
	char *process_names[CHARTED_PROCESSES_MAX];
	struct timeline_event *events;
	size_t event_count, event_capacity;
	size_t events_left_out;
};

void timeline_charts_release(struct timeline_charts *charts);

#endif
