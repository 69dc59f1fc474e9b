/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trends - determine from successive samples whether the memory need (memory that cannot
 * be reclaimed) of a cgroup, and of each of its processes, is growing. The functions are
 * pure.
 *
 * The trend of a cgroup starts again if another cgroup is sampled, or if all processes of
 * the previous sample have ended, which indicates a new run of the same program. A
 * restarted process counts as a new process.
 */
#ifndef MS_CLASSIFY_GROWTH_TRENDS_H
#define MS_CLASSIFY_GROWTH_TRENDS_H

#include "classify/cgroup/figures.h"
#include "classify/growth/growth.h"
#include "model/cgroup.h"
#include "model/usage.h"

/* How an amount changes over time. */
struct trend {
	struct growth growth;
	uint64_t bytes; /* amount in the last sample; unknown without samples */
	uint64_t first_bytes;
	uint64_t sample_count;
	uint64_t span_ns; /* duration from the first to the last sample in ns */
};

struct process_trend {
	struct process process;
	/* trend of the memory need of the process, see usage_need_bytes() */
	struct trend need;
	/*
	 * trend of the live (allocated) blocks, from samples in which the heap was read
	 */
	struct trend live;
};

/*
 * Why the memory need of a process is growing: a leak, or freed memory that the
 * allocator retains.
 */
enum growth_cause {
	/*
	 * memory need is not growing, or the heap was read too rarely to find the cause
	 */
	GROWTH_CAUSE_UNKNOWN,
	GROWTH_CAUSE_LEAK, /* live blocks grow together with the memory need */
	/*
	 * Live blocks grow less than half as much as the memory need: the allocator
	 * retains freed memory.
	 */
	GROWTH_CAUSE_KEPT,
	GROWTH_CAUSE_COUNT_
};

/* Names of the causes of growth in JSON and CSV output: "unknown", "leak", "kept". */
extern const char *const growth_cause_names[GROWTH_CAUSE_COUNT_];

enum growth_cause process_trend_cause(const struct process_trend *trend);

struct trends;

struct trends *trends_new(void);
void trends_free(struct trends *trends);

struct trends_sample {
	/* time of the sample in ns, on any monotonic clock */
	uint64_t time_ns;
	/* `cgroup` and `figures` may be NULL. */
	const struct cgroup *cgroup;
	const struct oom_figures *figures;
	const struct snapshot *processes;
};

/* Add a sample. The caller may release the sample after the call. */
void trends_add(struct trends *trends, const struct trends_sample *sample);

/* Get the trend of the cgroup's memory need. */
void trends_find_group(const struct trends *trends, struct trend *ret);

/* Return how many times the trend of the cgroup has been restarted. */
size_t trends_restart_count(const struct trends *trends);

/*
 * Return the number of processes in the last sample that contained any. Processes are
 * indexed in the order of that sample.
 */
size_t trends_process_count(const struct trends *trends);
void trends_find_process(const struct trends *trends, size_t index,
			 struct process_trend *ret);

#endif
