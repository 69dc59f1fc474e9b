/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_runs - a command that was run several times, each time counted; its figures, and
 * limits that they have. Plain data.
 */
#ifndef MS_MODEL_COUNT_RUNS_H
#define MS_MODEL_COUNT_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/count.h"

/* The first CALL_COUNT_ are the calls of each function: enum counted_call. */
enum counted_figure {
	COUNTED_FREE_NULL = CALL_COUNT_,
	COUNTED_ALLOCATIONS,
	COUNTED_FAILED,
	COUNTED_REQUESTED,
	COUNTED_TEMPORARY,
	COUNTED_LIVE_BLOCKS,
	COUNTED_LIVE,
	COUNTED_PEAK_LIVE,
	COUNTED_PEAK_RSS, /* the kernel's, not counted */
	COUNTED_COUNT_
};

struct counted_figure_info {
	const char *name; /* of its column and its key */
	const char *label; /* for a person */
	bool is_bytes;
	bool is_level; /* it was so at one time: not made of what single iterations add */
	bool is_limited; /* a file of limits that is made has it */
};
extern const struct counted_figure_info counted_figures[COUNTED_COUNT_];

/* Of a file of limits: its column's name, or "allocations". -EINVAL if there is none. */
int counted_figure_find(const char *name, size_t length, enum counted_figure *ret);
const char *counted_figure_key(enum counted_figure figure);

struct count_run {
	unsigned int number; /* 1 ... */
	uint64_t size; /* of the work; BYTES_UNKNOWN: has none */
	/*
	 * What is shown of it; of several programs their sum, and a peak that is unknown.
	 * Without its threads.
	 */
	struct count_program program;
	size_t program_count;
	uint64_t peak_rss_bytes; /* of the command's process, or the largest that it waited for */
	uint64_t unix_ms, elapsed_ns; /* at its end, and since its start */
};

struct count_runs {
	struct count_run *items;
	size_t count, capacity;
	uint64_t iterations; /* of the same work in each run; 1: not said */
};

void count_runs_release(struct count_runs *runs);

/* May be BYTES_UNKNOWN. */
uint64_t count_run_figure(const struct count_run *run, enum counted_figure figure);

/* One figure of what was counted; unknown if it is none of these. */
uint64_t count_sums_figure(const struct count_sums *sums, enum counted_figure figure);

enum limit_kind {
	LIMIT_AT_MOST, /* "<=" */
	LIMIT_EQUAL,   /* "=" */
	LIMIT_KIND_COUNT_
};
extern const char *const limit_operators[LIMIT_KIND_COUNT_];

/* Thousandths, since a figure is for one of many iterations. */
struct count_limit {
	enum counted_figure figure;
	enum limit_kind kind;
	uint64_t value_thousandths;
	uint64_t tolerance_thousandths; /* of a percent with is_percent; 0: none */
	bool is_percent;
};

#endif
