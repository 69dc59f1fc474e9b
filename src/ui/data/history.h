/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history - the figures of one process over time, for graphs, changes and rates.
 */
#ifndef MS_UI_DATA_HISTORY_H
#define MS_UI_DATA_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/usage.h"

/* The amounts that a history records. */
enum part {
	PART_RSS,
	PART_THP, /* amounts within Rss that overlap the owners and states */
	PART_LOCKED,
	PART_TRIMMABLE,
	PART_PSS, /* amounts outside that breakdown */
	PART_USS,
	PART_SWAP,
	PART_UNBACKED,
	PART_RESERVED,
	PART_HUGETLB,
	PART_SIZE,
	PART_OWNER,				/* + enum owner */
	PART_STATE = PART_OWNER + OWNER_COUNT_, /* + enum page_state */
	PART_NAMED_COUNT_ = PART_STATE + STATE_COUNT_,
	PART_CELL = PART_NAMED_COUNT_, /* + owner * STATE_COUNT_ + state */
	PART_NEED = PART_CELL + OWNER_COUNT_ * STATE_COUNT_,
	PART_COUNT_,
};

/*
 * Return the name of a part, such as "Rss", "anon" or "lazyfree". Cells and
 * PART_NEED have none.
 */
const char *part_name(enum part part);

/* Return the letter of an owner or state, which is also used in the bars. */
char part_letter(enum part part);

uint64_t part_get(const struct usage *u, enum part part);

struct sample {
	uint64_t taken_ns;
	uint64_t bytes[PART_COUNT_]; /* all BYTES_UNKNOWN: a missing sample */
};

/* samples: two for each cell of the widest screen, plus a reserve */
#define HISTORY_MAX 640

struct history {
	struct sample *items; /* oldest first */
	size_t count;
	size_t capacity;
	/*
	 * The first sample, which is kept when old samples are dropped. Its amounts of
	 * owners are from the first sample with a known heap.
	 */
	struct sample start;
};

void history_init(struct history *h);
void history_release(struct history *h);

/* Remove all samples. */
void history_clear(struct history *h);

/*
 * Add a sample. If samples are overdue since the last one, at one per interval_ns, add
 * them as missing first. interval_ns 0 adds no missing samples.
 */
void history_add(struct history *h, const struct usage *u, uint64_t interval_ns);

/* Remove the samples that are later than taken_ns. */
void history_drop_after(struct history *h, uint64_t taken_ns);

/* Replace the last sample with better figures for the same moment. */
void history_amend(struct history *h, const struct usage *u);

/*
 * Get the change of a part since the first sample in bytes, or its rate in bytes per
 * second. The rate covers the last five seconds, or the last two samples if they are
 * further apart. Returns false and leaves *ret_bytes or *ret_bytes_per_s unchanged if the
 * value is unknown.
 */
bool history_get_change(const struct history *h, enum part part, int64_t *ret_bytes);
bool history_get_rate(const struct history *h, enum part part, int64_t *ret_bytes_per_s);

/* Return the time from the first sample to the last; 0 for fewer than two samples. */
uint64_t history_span_ns(const struct history *h);

/*
 * Copy the last samples of a part, at most `max`, oldest first. Returns the
 * number copied.
 */
size_t history_copy(const struct history *h, enum part part, size_t max,
		    uint64_t *ret_bytes);

#endif
