/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline_charts - the data for the HTML page about a recording: charts over time and a
 * list of events.
 */
#ifndef MS_CLASSIFY_GROWTH_TIMELINE_CHARTS_H
#define MS_CLASSIFY_GROWTH_TIMELINE_CHARTS_H

#include "classify/growth/timeline.h"
#include "model/usage.h"

enum chart_kind {
	CHART_GROUP, /* figures of the cgroup; the total is its memory usage */
	/* memory of all processes by owner (heap, stacks, files…); the total is Rss */
	CHART_OWNERS,
	CHART_STATES,
	/* chart of the largest processes, with the sum of all others */
	CHART_PROCESSES,
	CHART_PROCESS, /* chart of one process's memory by owner */
	CHART_KIND_COUNT_
};

/* Indexes of the values in each row of a CHART_GROUP chart. */
enum group_value {
	GROUP_LIVE_ANON,
	GROUP_SHMEM,
	GROUP_KERNEL,
	GROUP_SOCK,
	GROUP_LAZYFREE,
	GROUP_SLAB_RECLAIMABLE,
	GROUP_FILE,
	/* memory limit of the cgroup; unknown if the cgroup has no limit */
	GROUP_LIMIT,
	GROUP_NEED,
	GROUP_HIDDEN,
	GROUP_WORKING_SET,
	GROUP_SWAP,
	GROUP_VALUE_COUNT_
};

/*
 * Indexes of the values that follow the memory of each owner in a row of a chart by
 * owner. The memory of each owner is from the last reading of /proc/PID/smaps.
 */
enum owners_value {
	OWNERS_PSS = OWNER_COUNT_,
	OWNERS_SWAP,
	OWNERS_LAZYFREE,
	OWNERS_VALUE_COUNT_
};

/*
 * Maximum number of processes with a chart of their own. The remaining processes are
 * shown as one sum.
 */
#define CHARTED_PROCESSES_MAX 8

struct timeline_chart {
	enum chart_kind kind;
	/*
	 * name of the charted process, such as "redis-server (1234)"; owned; may be NULL
	 */
	char *title;
	struct timeline timeline;
	/*
	 * Heaps of the charted process in the last sample in which they are known;
	 * heap_count is 0 if they are never known. Only for CHART_PROCESS.
	 */
	struct usage_heap heaps[USAGE_HEAP_MAX];
	size_t heap_count;
	uint64_t heaps_unix_ms;
};

struct timeline_event {
	uint64_t unix_ms;
	int pid; /* 0: the event does not concern a single process */
	/* kind and text of the event; owned; text may be NULL */
	char *kind, *text;
};

/* Maximum number of stored events. events_left_out counts the events after them. */
#define TIMELINE_EVENTS_MAX 500

struct timeline_charts {
	uint64_t begin_ms, end_ms;
	size_t sample_count;
	/* path of the recorded cgroup; owned; NULL: no cgroup was recorded */
	char *group_path;
	/*
	 * name of the cgroup, such as "container app of pod
	 * shop/web-0"; owned; NULL: unknown
	 */
	char *group_names;
	/*
	 * explanation of why processes ended, as several lines; owned; NULL:
	 * not determined
	 */
	char *verdict;
	/* charts of the page; a chart without rows is hidden */
	struct timeline_chart *charts;
	size_t chart_count;
	/*
	 * names of the processes in a CHART_PROCESSES chart, up to the first NULL; owned
	 */
	char *process_names[CHARTED_PROCESSES_MAX];
	struct timeline_event *events;
	size_t event_count, event_capacity;
	size_t events_left_out;
};

void timeline_charts_release(struct timeline_charts *charts);

#endif
