/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trends - determine from successive samples whether the memory need of a cgroup, and
 * of each of its processes, grows. Pure.
 *
 * The trend of a cgroup starts over if another cgroup is sampled, or if none of the
 * previous processes is left, which means a new run of the same program. A
 * restarted process counts as a new process.
 */
#ifndef MS_CLASSIFY_GROWTH_TRENDS_H
#define MS_CLASSIFY_GROWTH_TRENDS_H

#include "classify/cgroup/figures.h"
#include "classify/growth/growth.h"
#include "model/cgroup.h"
#include "model/usage.h"

/* How an amount changed over time. */
struct trend {
	struct growth growth;
	uint64_t bytes; /* the last amount; unknown without samples */
	uint64_t first_bytes;
	uint64_t sample_count;
	uint64_t span_ns; /* time from the first to the last sample */
};

struct process_trend {
	struct process process;
	struct trend need; /* trend of usage_need_bytes() */
	/* trend of live blocks, from samples in which the heap was read */
	struct trend live;
};

/* Why the memory need of a process grows. */
enum growth_cause {
	/* The memory need does not grow, or the heap was not read often enough. */
	GROWTH_CAUSE_UNKNOWN,
	GROWTH_CAUSE_LEAK, /* live blocks grow along with the memory need */
	/*
	 * Live blocks grow by less than half as much as the memory need: the allocator
	 * retains freed memory.
	 */
	GROWTH_CAUSE_KEPT,
	GROWTH_CAUSE_COUNT_
};

/* Names of the causes in machine-readable output: "unknown", "leak", "kept". */
extern const char *const growth_cause_names[GROWTH_CAUSE_COUNT_];

enum growth_cause process_trend_cause(const struct process_trend *trend);

struct trends;

struct trends *trends_new(void);
void trends_free(struct trends *trends);

struct trends_sample {
	uint64_t time_ns;	     /* nanoseconds since an arbitrary start */
	const struct cgroup *cgroup; /* `cgroup` and `figures` may be NULL */
	const struct oom_figures *figures;
	const struct snapshot *processes;
};

/* Add a sample. The sample is not accessed after the call. */
void trends_add(struct trends *trends, const struct trends_sample *sample);

/* Get the trend of the cgroup's memory need. */
void trends_find_group(const struct trends *trends, struct trend *ret);

/* Return how many times the cgroup's trend has started over. */
size_t trends_restart_count(const struct trends *trends);

/*
 * Return the number of processes in the last sample that contained any. Process
 * indices follow the order of that sample.
 */
size_t trends_process_count(const struct trends *trends);
void trends_find_process(const struct trends *trends, size_t index,
			 struct process_trend *ret);

#endif
