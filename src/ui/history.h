/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history - the figures of one process over time: for its graph, and for how much they changed.
 */
#ifndef MS_UI_HISTORY_H
#define MS_UI_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/usage.h"

/* The amounts that are followed. */
enum part {
	PART_RSS,
	PART_THP, /* parts of Rss that lie across owners and states */
	PART_LOCKED,
	PART_TRIMMABLE,
	PART_PSS, /* beside it */
	PART_USS,
	PART_SWAP,
	PART_UNBACKED,
	PART_RESERVED,
	PART_HUGETLB,
	PART_SIZE,
	PART_OWNER,			       /* + enum owner */
	PART_STATE = PART_OWNER + OWNER_COUNT_, /* + enum page_state */
	PART_NAMED_COUNT_ = PART_STATE + STATE_COUNT_,
	PART_CELL = PART_NAMED_COUNT_, /* + owner * STATE_COUNT_ + state */
	PART_NEED = PART_CELL + OWNER_COUNT_ * STATE_COUNT_,
	PART_COUNT_,
};

/* "Rss", "anon", "lazyfree" …: all but cells and need. */
const char *part_name(enum part part);

uint64_t part_get(const struct usage *u, enum part part);

struct sample {
	uint64_t taken_ns;
	uint64_t bytes[PART_COUNT_]; /* all unknown: a sample that is missing */
};

#define HISTORY_MAX 640 /* samples: two for each cell of the widest screen, and some */

struct history {
	struct sample *items; /* oldest first */
	size_t count;
	size_t capacity;
	/*
	 * the first one, which stays when the oldest are dropped; of owners: since the
	 * heap is known
	 */
	struct sample start;
};

void history_init(struct history *h);
void history_release(struct history *h);

/* Forget everything. */
void history_clear(struct history *h);

/*
 * Add what was read. Samples that should have come since the last one, one every
 * interval_ns, are added as missing.
 */
void history_add(struct history *h, const struct usage *u, uint64_t interval_ns);

/* Forget what is later than that. */
void history_drop_after(struct history *h, uint64_t taken_ns);

/* The same instant, known better: what was added last is replaced. */
void history_amend(struct history *h, const struct usage *u);

/*
 * How much a part changed since the first sample; per second, over the last five seconds
 * or the last two samples. False when it is not known; *ret is untouched then.
 */
bool history_get_change(const struct history *h, enum part part, int64_t *ret_bytes);
bool history_get_rate(const struct history *h, enum part part, int64_t *ret_bytes_per_s);

/* From the first sample to the last, 0 while there are not two. */
uint64_t history_span_ns(const struct history *h);

/* The last samples of a part, at most `max`, oldest first. Returns how many. */
size_t history_copy(const struct history *h, enum part part, size_t max, uint64_t *ret_bytes);

#endif
