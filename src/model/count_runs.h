/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_runs - the results of running a command several times while its allocations were
 * counted, and the limits on these results. Plain data.
 */
#ifndef MS_MODEL_COUNT_RUNS_H
#define MS_MODEL_COUNT_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/count.h"

/*
 * The figures of a run. The first CALL_COUNT_ values are the call counts of the
 * functions, in the order of enum counted_call.
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
	COUNTED_PEAK_RSS, /* peak Rss as reported by the kernel */
	COUNTED_COUNT_
};

struct counted_figure_info {
	const char *name;  /* name of the figure, used for columns and JSON keys */
	const char *label; /* label of the figure in reports */
	bool is_bytes;
	/*
	 * True if the figure is a level at one moment, such as live bytes. Such a figure
	 * must not be divided by the number of iterations, unlike a sum over the run.
	 */
	bool is_level;
	/* true if generated limits files include a limit on the figure */
	bool is_limited;
};
extern const struct counted_figure_info counted_figures[COUNTED_COUNT_];

/*
 * Find a figure by its name in a limits file: the name of its column, or "allocations".
 * Return 0, or -EINVAL if no figure has that name.
 */
int counted_figure_find(const char *name, size_t length, enum counted_figure *ret);
const char *counted_figure_key(enum counted_figure figure);

struct count_run {
	unsigned int number; /* number of the run, counted from 1 */
	uint64_t size;	     /* size of the workload; BYTES_UNKNOWN if the run has none */
	/*
	 * The counted program, without its threads. If the run has several programs, this
	 * struct contains the sums of their figures, and the peak is unknown.
	 */
	struct count_program program;
	size_t program_count;
	/*
	 * Peak Rss of the command's process, or of one of its children if that child's
	 * peak is higher.
	 */
	uint64_t peak_rss_bytes;
	/* Wall-clock time at the end of the run, and the duration of the run. */
	uint64_t unix_ms, elapsed_ns;
};

struct count_runs {
	struct count_run *items;
	size_t count, capacity;
	/*
	 * number of times that each run repeats its work; 1 if the user
	 * did not specify it
	 */
	uint64_t iterations;
};

void count_runs_release(struct count_runs *runs);

/* Return one figure of a run. The figure may be BYTES_UNKNOWN. */
uint64_t count_run_figure(const struct count_run *run, enum counted_figure figure);

/*
 * Return one figure of the counts, or BYTES_UNKNOWN if struct
 * count_sums does not contain it.
 */
uint64_t count_sums_figure(const struct count_sums *sums, enum counted_figure figure);

enum limit_kind {
	LIMIT_AT_MOST, /* upper limit, written as "<=" in a limits file */
	LIMIT_EQUAL,   /* exact value, written as "=" in a limits file */
	LIMIT_KIND_COUNT_
};
extern const char *const limit_operators[LIMIT_KIND_COUNT_];

/*
 * A limit on one figure. Values are in thousandths, because a figure may be an average
 * over many iterations.
 */
struct count_limit {
	enum counted_figure figure;
	enum limit_kind kind;
	uint64_t value_thousandths;
	/*
	 * Tolerance, in thousandths of a percent if is_percent is set; 0 if there is no
	 * tolerance.
	 */
	uint64_t tolerance_thousandths;
	bool is_percent;
};

#endif
