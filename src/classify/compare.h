/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare - the figures of a comparison: one amount per run, and of the good runs of each
 * variant the median with the lowest and the highest. Pure.
 *
 * Amounts are bytes, nanoseconds or counts. What is not known is BYTES_UNKNOWN, whatever
 * the unit.
 */
#ifndef MS_CLASSIFY_COMPARE_H
#define MS_CLASSIFY_COMPARE_H

#include "model/comparison.h"

/* What a run has at each of its moments. */
enum amount {
	AMOUNT_RSS,
	AMOUNT_FIRM, /* Rss without LazyFree */
	AMOUNT_LAZYFREE,
	AMOUNT_UNBACKED,
	AMOUNT_SWAP,
	AMOUNT_POOL,  /* pool_pages + pool_fragments */
	AMOUNT_OWNER, /* + enum owner */
	AMOUNT_COUNT_ = AMOUNT_OWNER + OWNER_COUNT_
};

enum figure {
	FIGURE_WALL, /* ns, as all times */
	FIGURE_CPU,
	FIGURE_USER,
	FIGURE_SYSTEM,
	FIGURE_MINOR_FAULTS,
	FIGURE_MAJOR_FAULTS,
	FIGURE_GIVEN_BACK, /* calls that gave memory back to the kernel */
	FIGURE_ABOVE,	   /* time above the limit; unknown if there is none */
	FIGURE_PEAK_RSS,   /* as the kernel saw it */
	FIGURE_RSS_GROWTH, /* from the middle of the work to its end */
	/*
	 * at the end of the work, or where the heap was read within a third of its time
	 * from there
	 */
	FIGURE_LATE_LIVE,
	FIGURE_LATE_POOL,
	/* of a run of its own; of one of the others they are unknown */
	FIGURE_ALLOCATIONS,
	FIGURE_REQUESTED,
	FIGURE_TEMPORARY,
	FIGURE_ALLOCATION_RATE, /* per second of the median wall time */
	FIGURE_MOMENT_, /* use FIGURE_AT() */
	FIGURE_COUNT_ = FIGURE_MOMENT_ + MOMENT_COUNT_ * AMOUNT_COUNT_
};

#define FIGURE_AT(moment, amount) \
	((enum figure)(FIGURE_MOMENT_ + (int)(moment)*AMOUNT_COUNT_ + (int)(amount)))
#define FIGURE_OWNER_AT(moment, owner) FIGURE_AT(moment, AMOUNT_OWNER + (int)(owner))

/* One figure of one run, good or not. A shrinking size has grown by 0. */
uint64_t compare_run_figure(const struct comparison *comparison, const struct run *run,
			    enum figure figure);

/* It counts: neither a warm-up, nor made for something else, nor a failure. */
bool run_is_good(const struct run *run);

/* Of the runs in which the figure is known; all unknown if there is none. */
struct spread {
	uint64_t median; /* of an even number: the mean of the middle two */
	uint64_t least, most;
	size_t run_count;
};

/* Of so many values, which are sorted. */
void spread_set(struct spread *spread, uint64_t *values, size_t count);

struct compared_variant {
	size_t good_count, failed_count; /* warm-ups are in neither */
	const char *problem;		 /* of the first that failed, or NULL */
	/*
	 * By-owner figures at a moment are of the runs where the heap was read then, if
	 * there is one: in the others the heap is in anon.
	 */
	struct spread figures[FIGURE_COUNT_];
	enum quality heap_quality[MOMENT_COUNT_]; /* the worst of these runs */
	size_t typical_run; /* index of the good run nearest to the medians; SIZE_MAX: none is good */
};

struct compared {
	const struct comparison *comparison; /* borrowed */
	struct compared_variant *variants;   /* as many as it has */
};

void compared_init(struct compared *compared, const struct comparison *comparison);
void compared_release(struct compared *compared);

#endif
