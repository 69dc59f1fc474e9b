/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history - the figures of one process over time, for the graphs, changes and rates on
 * the screen.
 */
#ifndef MS_UI_DATA_HISTORY_H
#define MS_UI_DATA_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/usage.h"

/* The amounts that a history contains. */
enum part {
	PART_RSS,
	/*
	 * the amounts begin here that are part of Rss, but overlap the amounts by owner
	 * and by page state
	 */
	PART_THP,
	PART_LOCKED,
	PART_TRIMMABLE,
	PART_PSS, /* the amounts that are not part of Rss begin here */
	PART_USS,
	PART_SWAP,
	PART_UNBACKED,
	PART_RESERVED,
	PART_HUGETLB,
	PART_SIZE,
	/* the amounts by owner begin here: PART_OWNER + enum owner */
	PART_OWNER,
	/* the amounts by page state begin here: PART_STATE + enum page_state */
	PART_STATE = PART_OWNER + OWNER_COUNT_,
	PART_NAMED_COUNT_ = PART_STATE + STATE_COUNT_,
	/*
	 * the amounts by owner and page state begin here:
	 * PART_CELL + owner * STATE_COUNT_ + state
	 */
	PART_CELL = PART_NAMED_COUNT_,
	PART_NEED = PART_CELL + OWNER_COUNT_ * STATE_COUNT_,
	PART_COUNT_,
};

/*
 * Return the name of an amount, such as "Rss", "anon" or "lazyfree". PART_NEED and the
 * amounts by owner and page state (PART_CELL) have no names.
 */
const char *part_name(enum part part);

/* Return the letter that represents an owner or a page state in bars. */
char part_letter(enum part part);

uint64_t part_get(const struct usage *u, enum part part);

struct sample {
	uint64_t taken_ns;
	/* amount of each part; all are BYTES_UNKNOWN in a missing sample */
	uint64_t bytes[PART_COUNT_];
};

/*
 * Maximum number of samples in a history: two per cell of the widest screen, plus
 * a reserve.
 */
#define HISTORY_MAX 640

struct history {
	struct sample *items; /* samples in chronological order */
	size_t count;
	size_t capacity;
	/*
	 * Copy of the first sample, which remains when old samples are dropped.
	 * After the first heap read, its amounts by owner are those of the first
	 * sample after the read.
	 */
	struct sample start;
};

void history_init(struct history *h);
void history_release(struct history *h);

/* Remove all samples. */
void history_clear(struct history *h);

/*
 * Add a sample. If samples at intervals of interval_ns are missing since the last sample,
 * add empty samples in their place. If interval_ns is 0, do not add empty samples.
 */
void history_add(struct history *h, const struct usage *u, uint64_t interval_ns);

/* Remove all samples that were taken after taken_ns. */
void history_drop_after(struct history *h, uint64_t taken_ns);

/* Replace the last sample with more accurate figures for the same time. */
void history_amend(struct history *h, const struct usage *u);

/*
 * Get the change of an amount since the first sample in bytes, or its rate in bytes per
 * second. The rate covers the last five seconds, or the time between the last two samples
 * if that is longer. If the value is unknown, return false and leave *ret_bytes or
 * *ret_bytes_per_s unchanged.
 */
bool history_get_change(const struct history *h, enum part part, int64_t *ret_bytes);
bool history_get_rate(const struct history *h, enum part part, int64_t *ret_bytes_per_s);

/*
 * Return the time from the first to the last sample, or 0 if there are fewer than
 * two samples.
 */
uint64_t history_span_ns(const struct history *h);

/*
 * Copy the most recent values of an amount, at most `max`, in chronological order. Return
 * the number of values copied.
 */
size_t history_copy(const struct history *h, enum part part, size_t max,
		    uint64_t *ret_bytes);

#endif
