/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare - the figures of a comparison: one amount per run, and per variant the median,
 * lowest and highest amount of its good runs. Pure.
 *
 * Amounts are bytes, nanoseconds or counts. An unknown amount is
 * BYTES_UNKNOWN, whatever its unit.
 */
#ifndef MS_CLASSIFY_COMPARE_COMPARE_H
#define MS_CLASSIFY_COMPARE_COMPARE_H

#include "model/comparison.h"

/* Amounts of a run at one of its moments, such as the end of the work. */
enum amount {
	AMOUNT_RSS,
	AMOUNT_FIRM, /* Rss without LazyFree */
	AMOUNT_LAZYFREE,
	AMOUNT_UNBACKED,
	AMOUNT_SWAP,
	AMOUNT_POOL,  /* sum of pool_pages and pool_fragments */
	AMOUNT_OWNER, /* index of owner 0's amount; add an enum owner for the others */
	AMOUNT_COUNT_ = AMOUNT_OWNER + OWNER_COUNT_
};

enum figure {
	FIGURE_WALL, /* wall-clock time of the work, in ns like all times */
	FIGURE_CPU,
	FIGURE_USER,
	FIGURE_SYSTEM,
	FIGURE_MINOR_FAULTS,
	FIGURE_MAJOR_FAULTS,
	FIGURE_RELEASE_CALLS, /* number of calls that returned memory to the kernel */
	FIGURE_ABOVE,	      /* time above the limit; unknown without a limit */
	FIGURE_PEAK_RSS,      /* peak Rss as reported by the kernel */
	FIGURE_RSS_GROWTH,    /* growth of Rss from the middle of the work to its end */
	/*
	 * Live memory and pool at the end of the work, or at the heap reading nearest
	 * to the end if that is within a third of the work's time.
	 */
	FIGURE_LATE_LIVE,
	FIGURE_LATE_POOL,
	/*
	 * The allocation counts come from a separate counting run and
	 * are unknown in all other runs.
	 */
	FIGURE_ALLOCATIONS,
	FIGURE_REQUESTED,
	FIGURE_TEMPORARY,
	FIGURE_ALLOCATION_RATE, /* allocation count divided by the median wall time */
	/* the figures from here on exist once per moment; use FIGURE_AT() */
	FIGURE_MOMENT_,
	FIGURE_COUNT_ = FIGURE_MOMENT_ + MOMENT_COUNT_ * AMOUNT_COUNT_
};

#define FIGURE_AT(moment, amount) \
	((enum figure)(FIGURE_MOMENT_ + (int)(moment)*AMOUNT_COUNT_ + (int)(amount)))
#define FIGURE_OWNER_AT(moment, owner) FIGURE_AT(moment, AMOUNT_OWNER + (int)(owner))

/*
 * Return one figure of one run, even if the run failed or was a warm-up. If
 * Rss shrank, FIGURE_RSS_GROWTH is 0.
 */
uint64_t compare_run_figure(const struct comparison *comparison, const struct run *run,
			    enum figure figure);

/*
 * Return true if the run counts in the statistics: it did not fail and is
 * neither a warm-up nor a counting run.
 */
bool run_is_good(const struct run *run);

/*
 * Median and range of a figure over the runs in which it is known. All values
 * are unknown if there is no such run.
 */
struct spread {
	/* with an even number of runs, the mean of the middle two values */
	uint64_t median;
	uint64_t min, max;
	size_t run_count;
};

/* Compute the spread of an array of `count` values. Sorts the array. */
void spread_set(struct spread *spread, uint64_t *values, size_t count);

struct compared_variant {
	/* numbers of good and of failed runs, without warm-ups */
	size_t good_count, failed_count;
	const char *problem; /* problem of the first failed run, or NULL */
	/*
	 * For each moment, the figures by owner come only from runs whose
	 * heap was read at that moment, if there are such runs. In all other
	 * runs, heap memory counts as anon.
	 */
	struct spread figures[FIGURE_COUNT_];
	/*
	 * lowest quality of the heap figures at each moment, among the runs whose heap
	 * was read
	 */
	enum quality heap_quality[MOMENT_COUNT_];
	/*
	 * for each moment, why no run's heap is known; NULL: a heap is known, or no run
	 * has such a moment
	 */
	const char *heap_problem[MOMENT_COUNT_];
	/*
	 * Index of the good run nearest to the medians;
	 * SIZE_MAX: there is no good run.
	 */
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
