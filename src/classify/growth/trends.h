/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trends - determine from successive samples whether the needed memory of a group, and of
 * each of its processes, grows. Pure.
 *
 * A group starts over if another group is sampled or if none of its previous
 * processes is left, which means a new run of the same program. A restarted process
 * counts as a new process.
 */
#ifndef MS_CLASSIFY_GROWTH_TRENDS_H
#define MS_CLASSIFY_GROWTH_TRENDS_H

#include "classify/cgroup/figures.h"
#include "classify/growth/growth.h"
#include "model/cgroup.h"
#include "model/usage.h"

/* An amount over time. */
struct trend {
	struct growth growth;
	uint64_t bytes; /* the last amount; unknown without samples */
	uint64_t first_bytes;
	uint64_t sample_count;
	uint64_t span_ns; /* from the first to the last sample */
};

struct process_trend {
	struct process process;
	struct trend need; /* usage_need_bytes() */
	struct trend live; /* live blocks, where the heap was read */
};

/* Why the need of a process grows. */
enum growth_cause {
	/* It does not grow, or its heap was not read often enough. */
	GROWTH_CAUSE_UNKNOWN,
	GROWTH_CAUSE_LEAK, /* live blocks grow as well */
	/* Live blocks grow by less than half of it: the allocator keeps it. */
	GROWTH_CAUSE_KEPT,
	GROWTH_CAUSE_COUNT_
};

/* Names as keys: "unknown", "leak", "kept". */
extern const char *const growth_cause_names[GROWTH_CAUSE_COUNT_];

enum growth_cause process_trend_cause(const struct process_trend *trend);

struct trends;

struct trends *trends_new(void);
void trends_free(struct trends *trends);

struct trends_sample {
	uint64_t time_ns;	     /* since an arbitrary start */
	const struct cgroup *cgroup; /* may be NULL, like figures */
	const struct oom_figures *figures;
	const struct snapshot *processes;
};

/* Add a sample. It is not accessed after the call. */
void trends_add(struct trends *trends, const struct trends_sample *sample);

/* Get the trend of the group. */
void trends_find_group(const struct trends *trends, struct trend *ret);

/* Return how often the group has started over. */
size_t trends_restart_count(const struct trends *trends);

/*
 * Return the number of processes in the last sample that had processes.
 * Indices are in its order.
 */
size_t trends_process_count(const struct trends *trends);
void trends_find_process(const struct trends *trends, size_t index,
			 struct process_trend *ret);

#endif
