/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline - a long series as so many rows as a picture can show, with every peak and every
 * low: of each stretch of time the row with the largest and the one with the smallest total
 * stay. Stretches are shorter towards the end, which is what a picture of an end is looked
 * at for. Pure.
 */
#ifndef MS_CLASSIFY_TIMELINE_H
#define MS_CLASSIFY_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMELINE_VALUES_MAX 16

/* No more rows than this stay; as many again where there are gaps in each stretch. */
#define TIMELINE_ROWS_MAX 962

struct timeline_row {
	uint64_t unix_ms;
	uint64_t total_bytes; /* BYTES_UNKNOWN: there is nothing here, a gap */
	uint64_t values[TIMELINE_VALUES_MAX]; /* bytes, or BYTES_UNKNOWN */
};

struct timeline {
	uint64_t begin_ms, end_ms;
	struct timeline_row *rows; /* those that stay, by time */
	size_t count, capacity;
	/* The stretch that rows come into now. */
	size_t stretch;
	struct timeline_row first, largest, smallest, last;
	bool is_begun;
	bool has_gap;
	size_t gap_stretch; /* where the last gap is */
	struct timeline_row peak; /* of all, if there are any rows */
};

/* For rows from begin to end. */
void timeline_init(struct timeline *timeline, uint64_t begin_ms, uint64_t end_ms);
void timeline_release(struct timeline *timeline);

/* By time; one that is earlier than the one before is taken to be of its time. */
void timeline_add(struct timeline *timeline, const struct timeline_row *row);

/*
 * Nothing is known from the last row on, until the next one. Of several in one stretch the
 * first counts.
 */
void timeline_add_gap(struct timeline *timeline, uint64_t unix_ms);

/* There are no more rows: all that stay are in rows. */
void timeline_end(struct timeline *timeline);

#endif
