/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_runs - a command that was run several times while its allocations were counted,
 * with its figures and their limits. Plain data.
 */
#ifndef MS_MODEL_COUNT_RUNS_H
#define MS_MODEL_COUNT_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/count.h"

/*
 * The figures of a run. The first CALL_COUNT_ are the calls of each function (enum
 * counted_call).
 */
enum counted_figure {
	COUNTED_FREE_NULL = CALL_COUNT_,
	COUNTED_ALLOCATIONS,
	COUNTED_FAILED,
	COUNTED_REQUESTED,
	COUNTED_TEMPORARY,
	COUNTED_LIVE_BLOCKS,
	COUNTED_LIVE,
	COUNTED_PEAK_LIVE,
	COUNTED_PEAK_RSS, /* reported by the kernel, not counted */
	COUNTED_COUNT_
};

struct counted_figure_info {
	const char *name;  /* its column and key */
	const char *label; /* for reports */
	bool is_bytes;
	bool is_level;	 /* a level at one moment, not a sum over iterations */
	bool is_limited; /* a generated limits file contains it */
};
extern const struct counted_figure_info counted_figures[COUNTED_COUNT_];

/*
 * Find the figure that a limits file calls name: its column's name, or "allocations".
 * Returns 0, or -EINVAL if no figure has that name.
 */
int counted_figure_find(const char *name, size_t length, enum counted_figure *ret);
const char *counted_figure_key(enum counted_figure figure);

struct count_run {
	unsigned int number; /* counted from 1 */
	uint64_t size;	     /* size of the workload; BYTES_UNKNOWN: it has none */
	/*
	 * The program shown for this run, without its threads. For several programs it
	 * holds their sums, and an unknown peak.
	 */
	struct count_program program;
	size_t program_count;
	/* Peak of the command's process or its largest waited-for child. */
	uint64_t peak_rss_bytes;
	uint64_t unix_ms, elapsed_ns; /* at its end; since its start */
};

struct count_runs {
	struct count_run *items;
	size_t count, capacity;
	uint64_t iterations; /* iterations of the same work in each run; 1: not given */
};

void count_runs_release(struct count_runs *runs);

/* Return one figure of a run; may be BYTES_UNKNOWN. */
uint64_t count_run_figure(const struct count_run *run, enum counted_figure figure);

/*
 * Return one figure of the counts. BYTES_UNKNOWN if the figure is not part of struct
 * count_sums.
 */
uint64_t count_sums_figure(const struct count_sums *sums, enum counted_figure figure);

enum limit_kind {
	LIMIT_AT_MOST, /* "<=" */
	LIMIT_EQUAL,   /* "=" */
	LIMIT_KIND_COUNT_
};
extern const char *const limit_operators[LIMIT_KIND_COUNT_];

/*
 * A limit of one figure. Values are in thousandths because a figure may be
 * divided by many iterations.
 */
struct count_limit {
	enum counted_figure figure;
	enum limit_kind kind;
	uint64_t value_thousandths;
	uint64_t tolerance_thousandths; /* in percent if is_percent; 0: no tolerance */
	bool is_percent;
};

#endif
