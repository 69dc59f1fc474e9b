/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trends - whether what is needed grows: of a group, and of each process that is in it,
 * by samples as they come. Pure.
 *
 * A group begins anew when it is another one, or when none of its processes is left that
 * there were before: what comes then is another run of the same. A process that was
 * started again is another process.
 */
#ifndef MS_CLASSIFY_TRENDS_H
#define MS_CLASSIFY_TRENDS_H

#include "classify/growth.h"
#include "classify/oom_figures.h"
#include "model/cgroup.h"
#include "model/usage.h"

/* An amount over time. */
struct trend {
	struct growth growth;
	uint64_t bytes; /* the last one; unknown if there was none */
	uint64_t first_bytes;
	uint64_t sample_count;
	uint64_t span_ns; /* from the first sample to the last one */
};

struct process_trend {
	struct process process;
	struct trend need; /* usage_need_bytes() */
	struct trend live; /* blocks that are in use, where the heap was read */
};

/* Why a process's need grows. */
enum growth_cause {
	GROWTH_CAUSE_UNKNOWN, /* it does not grow, or its heap was not read often enough */
	GROWTH_CAUSE_LEAK,    /* so do blocks that are in use */
	GROWTH_CAUSE_KEPT, /* they do not, or by less than half: the allocator keeps it */
	GROWTH_CAUSE_COUNT_
};

/* As keys have them: "unknown", "leak", "kept". */
extern const char *const growth_cause_names[GROWTH_CAUSE_COUNT_];

enum growth_cause process_trend_cause(const struct process_trend *trend);

struct trends;

struct trends *trends_new(void);
void trends_free(struct trends *trends);

struct trends_sample {
	uint64_t time_ns;	     /* from any moment on */
	const struct cgroup *cgroup; /* or NULL, as the next one */
	const struct oom_figures *figures;
	const struct snapshot *processes;
};

/* The sample is not looked at afterwards. */
void trends_add(struct trends *trends, const struct trends_sample *sample);

/* Of the group. */
void trends_find_group(const struct trends *trends, struct trend *ret);

/* How often it has begun anew. */
size_t trends_restart_count(const struct trends *trends);

/* Those of the last sample that had any, in its order. */
size_t trends_process_count(const struct trends *trends);
void trends_find_process(const struct trends *trends, size_t index,
			 struct process_trend *ret);

#endif
