/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline - reduce a long series to the rows that a chart can show, without losing peaks
 * or minima. For each interval, the rows with the largest and the smallest total are
 * kept. Intervals are shorter near the end of the series, which interests users most. The
 * functions are pure.
 */
#ifndef MS_CLASSIFY_GROWTH_TIMELINE_H
#define MS_CLASSIFY_GROWTH_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMELINE_VALUES_MAX 16

/*
 * Maximum number of rows in a timeline without gaps. Gaps at most double the number
 * of rows.
 */
#define TIMELINE_ROWS_MAX 962

struct timeline_row {
	uint64_t unix_ms;
	/* sum of the amounts; BYTES_UNKNOWN marks a gap */
	uint64_t total_bytes;
	uint64_t values[TIMELINE_VALUES_MAX]; /* amounts in bytes, or BYTES_UNKNOWN */
};

struct timeline {
	uint64_t begin_ms, end_ms;
	struct timeline_row *rows; /* rows that were kept, in chronological order */
	size_t count, capacity;
	/* index of the interval to which rows are added */
	size_t stretch;
	struct timeline_row first, largest, smallest, last;
	bool is_begun;
	bool has_gap;
	size_t gap_stretch; /* index of the interval in which the last gap was recorded */
	/* row with the largest total; unset if there are no rows */
	struct timeline_row peak;
};

/* Initialise a timeline for rows with times between begin_ms and end_ms. */
void timeline_init(struct timeline *timeline, uint64_t begin_ms, uint64_t end_ms);
void timeline_release(struct timeline *timeline);

/* Add a row. If its time is before that of the previous row, use the previous time. */
void timeline_add(struct timeline *timeline, const struct timeline_row *row);

/* Record a gap after the last row. Only the first gap of each interval is stored. */
void timeline_add_gap(struct timeline *timeline, uint64_t unix_ms);

/* Move the remaining rows to timeline->rows. Call this function after the last row. */
void timeline_end(struct timeline *timeline);

#endif
