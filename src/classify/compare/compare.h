/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare - compute the figures for comparing variants of a program. Each run has one
 * amount per figure; each variant has the median, minimum and maximum amount of its good
 * runs. The functions are pure.
 *
 * Amounts are bytes, nanoseconds or counts. An unknown amount is BYTES_UNKNOWN, whatever
 * its unit.
 */
#ifndef MS_CLASSIFY_COMPARE_COMPARE_H
#define MS_CLASSIFY_COMPARE_COMPARE_H

#include "model/comparison.h"

/* Amounts of a run at one moment, such as the end of the workload. */
enum amount {
	AMOUNT_RSS,
	AMOUNT_FIRM, /* Rss without LazyFree */
	AMOUNT_LAZYFREE,
	AMOUNT_UNBACKED,
	AMOUNT_SWAP,
	AMOUNT_POOL, /* free memory in the heap's pool, in whole pages and fragments */
	/*
	 * First of the amounts by owner: AMOUNT_OWNER + a value of enum owner is the
	 * index of the resident memory of that owner.
	 */
	AMOUNT_OWNER,
	AMOUNT_COUNT_ = AMOUNT_OWNER + OWNER_COUNT_
};

enum figure {
	FIGURE_WALL, /* wall-clock time of the workload in ns */
	FIGURE_CPU,
	FIGURE_USER,
	FIGURE_SYSTEM,
	FIGURE_MINOR_FAULTS,
	FIGURE_MAJOR_FAULTS,
	/* number of system calls that returned memory to the kernel */
	FIGURE_RELEASE_CALLS,
	/*
	 * time in ns during which memory use exceeded the limit; unknown without a limit
	 */
	FIGURE_ABOVE,
	FIGURE_PEAK_RSS, /* peak Rss as reported by the kernel */
	/* growth of Rss from the middle to the end of the workload */
	FIGURE_RSS_GROWTH,
	/*
	 * Live memory and free pool memory at the end of the workload, from the heap
	 * reading nearest to the end. Readings that are more than a third of the
	 * workload's duration away are ignored.
	 */
	FIGURE_LATE_LIVE,
	FIGURE_LATE_POOL,
	/* Allocation counts of a separate counting run; unknown for all other runs. */
	FIGURE_ALLOCATIONS,
	FIGURE_REQUESTED,
	FIGURE_TEMPORARY,
	/* number of allocations divided by the median wall-clock time */
	FIGURE_ALLOCATION_RATE,
	/*
	 * First of the figures that are amounts at a given moment, such as the end of the
	 * workload. FIGURE_AT() returns their indices.
	 */
	FIGURE_MOMENT_,
	FIGURE_COUNT_ = FIGURE_MOMENT_ + MOMENT_COUNT_ * AMOUNT_COUNT_
};

#define FIGURE_AT(moment, amount) \
	((enum figure)(FIGURE_MOMENT_ + (int)(moment)*AMOUNT_COUNT_ + (int)(amount)))
#define FIGURE_OWNER_AT(moment, owner) FIGURE_AT(moment, AMOUNT_OWNER + (int)(owner))

/*
 * Return one figure of a run. The run may be a failed run or a warm-up. If Rss shrank,
 * FIGURE_RSS_GROWTH is 0.
 */
uint64_t compare_run_figure(const struct comparison *comparison, const struct run *run,
			    enum figure figure);

/*
 * Return true if the statistics include the run, because the run succeeded and is neither
 * a warm-up nor a counting run.
 */
bool run_is_good(const struct run *run);

/*
 * Median and range of a figure over the runs in which the figure is known. If the figure
 * is unknown in all runs, all members are unknown.
 */
struct spread {
	/* if the number of values is even, the mean of the two middle values */
	uint64_t median;
	uint64_t min, max;
	size_t run_count;
};

/* Compute the median and range of `count` values. The array is sorted in place. */
void spread_set(struct spread *spread, uint64_t *values, size_t count);

struct compared_variant {
	/* number of good runs and number of failed runs, not counting warm-ups */
	size_t good_count, failed_count;
	const char *problem; /* error message of the first failed run, or NULL */
	/*
	 * Statistics of each figure. If the heap was read in some runs, the figures by
	 * owner come from these runs only, separately for each moment. If the heap was
	 * read in no run, heap memory counts as anon.
	 */
	struct spread figures[FIGURE_COUNT_];
	/*
	 * For each moment, the lowest quality of the heap figures among the
	 * runs whose heap was read.
	 */
	enum quality heap_quality[MOMENT_COUNT_];
	/*
	 * Reason why the heap is unknown in all runs, for each moment. NULL: the heap is
	 * known in at least one run, or no run reached the moment.
	 */
	const char *heap_problem[MOMENT_COUNT_];
	/* index of the good run nearest to the medians; SIZE_MAX: no run was good */
	size_t typical_run;
};

struct compared {
	const struct comparison *comparison; /* borrowed */
	/* array with comparison->variant_count elements */
	struct compared_variant *variants;
};

void compared_init(struct compared *compared, const struct comparison *comparison);
void compared_release(struct compared *compared);

#endif
