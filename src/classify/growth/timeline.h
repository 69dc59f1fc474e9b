/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline - reduce a long series to the number of rows that a chart can show
 * without losing a peak or low. For each interval, the rows with the largest and
 * the smallest total are kept. Intervals are shorter towards the end of the
 * series, which interests readers most. Pure.
 */
#ifndef MS_CLASSIFY_GROWTH_TIMELINE_H
#define MS_CLASSIFY_GROWTH_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMELINE_VALUES_MAX 16

/*
 * Maximum number of rows in a timeline without gaps. Gaps can at most double the number.
 */
#define TIMELINE_ROWS_MAX 962

struct timeline_row {
	uint64_t unix_ms;
	uint64_t total_bytes; /* BYTES_UNKNOWN: the row marks a gap in the data */
	uint64_t values[TIMELINE_VALUES_MAX]; /* bytes, or BYTES_UNKNOWN */
};

struct timeline {
	uint64_t begin_ms, end_ms;
	struct timeline_row *rows; /* the rows that were kept, in chronological order */
	size_t count, capacity;
	/* Index of the interval that is being filled. */
	size_t stretch;
	struct timeline_row first, largest, smallest, last;
	bool is_begun;
	bool has_gap;
	size_t gap_stretch; /* index of the interval that contains the last gap */
	/* the row with the largest total, if there are any rows */
	struct timeline_row peak;
};

/* Initialise a timeline for rows with times between begin_ms and end_ms. */
void timeline_init(struct timeline *timeline, uint64_t begin_ms, uint64_t end_ms);
void timeline_release(struct timeline *timeline);

/*
 * Add a row. If its time is before the previous row's, the previous row's time is used.
 */
void timeline_add(struct timeline *timeline, const struct timeline_row *row);

/*
 * Mark a gap between the last row added and the next row. Only the
 * first gap of an interval is kept.
 */
void timeline_add_gap(struct timeline *timeline, uint64_t unix_ms);

/* Finish the series after its last row: store the remaining rows in timeline->rows. */
void timeline_end(struct timeline *timeline);

#endif
