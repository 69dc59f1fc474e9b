/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/data/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/xalloc.h"

#define RATE_WINDOW_NS (5 * NS_PER_S)

const char *part_name(enum part part)
{
	static const char *const names[] = {
		[PART_RSS] = "Rss",	      [PART_THP] = "huge pages",
		[PART_LOCKED] = "locked",     [PART_TRIMMABLE] = "trimmable",
		[PART_PSS] = "Pss",	      [PART_USS] = "Uss",
		[PART_SWAP] = "Swap",	      [PART_UNBACKED] = "unbacked",
		[PART_RESERVED] = "reserved", [PART_HUGETLB] = "hugetlb",
		[PART_SIZE] = "Size",
	};

	if (part >= PART_STATE)
		return page_state_names[part - PART_STATE];
	return part >= PART_OWNER ? owner_names[part - PART_OWNER] : names[part];
}

char part_letter(enum part part)
{
	/* letters for the owners and states in bars, as in the text report */
	static const char owners[] = "LPGMSAFH", states[] = "DLCdc";

	if (part >= PART_STATE)
		return states[part - PART_STATE];
	return part >= PART_OWNER ? owners[part - PART_OWNER] : ' ';
}

uint64_t part_get(const struct usage *u, enum part part)
{
	if (part == PART_NEED)
		return usage_need_bytes(u);
	if (part >= PART_CELL)
		return matrix_cell_bytes(
			&u->matrix, (enum owner)((part - PART_CELL) / STATE_COUNT_),
			(enum page_state)((part - PART_CELL) % STATE_COUNT_));
	if (part >= PART_STATE)
		return u->state_bytes[part - PART_STATE];
	if (part >= PART_OWNER)
		return matrix_owner_bytes(&u->matrix, (enum owner)(part - PART_OWNER));
	switch ((int)part) {
	case PART_RSS: return u->total.bytes[SMAPS_RSS];
	case PART_PSS: return u->total.bytes[SMAPS_PSS];
	case PART_USS: return usage_uss_bytes(u);
	case PART_SWAP: return u->total.bytes[SMAPS_SWAP];
	case PART_UNBACKED: return u->unbacked_bytes;
	case PART_RESERVED: return u->reserved_bytes;
	case PART_THP: return usage_thp_bytes(u);
	case PART_LOCKED: return u->total.bytes[SMAPS_LOCKED];
	case PART_TRIMMABLE: return u->trimmable_bytes;
	case PART_HUGETLB: return usage_hugetlb_bytes(u);
	default: return u->process.stat_size_bytes;
	}
}

void history_init(struct history *h)
{
	*h = (struct history){ 0 };
}

void history_release(struct history *h)
{
	free(h->items);
	history_init(h);
}

void history_clear(struct history *h)
{
	h->count = 0;
}

/*
 * Append a sample and return it. If there are already HISTORY_MAX samples, first drop
 * the oldest sixteenth of them. Dropping many at a time avoids moving the array for
 * each new sample.
 */
static struct sample *add_sample(struct history *h)
{
	if (h->count == HISTORY_MAX) {
		size_t kept = HISTORY_MAX - HISTORY_MAX / 16;

		memmove(h->items, h->items + h->count - kept, kept * sizeof(*h->items));
		h->count = kept;
	}
	h->items = xgrow(h->items, &h->capacity, h->count + 1, sizeof(*h->items));
	return &h->items[h->count++];
}

static void add_missing(struct history *h, uint64_t taken_ns, uint64_t interval_ns)
{
	uint64_t last_ns, missing;

	if (h->count == 0 || interval_ns == 0)
		return;
	last_ns = h->items[h->count - 1].taken_ns;
	if (taken_ns < last_ns + interval_ns)
		return;
	/*
	 * round to the nearest number of intervals, so that a sample that is late by less
	 * than half an interval does not count as missing
	 */
	missing = (taken_ns - last_ns - interval_ns / 2) / interval_ns;
	for (uint64_t i = 1; i <= missing && i < HISTORY_MAX; i++) {
		struct sample *s = add_sample(h);

		/* set all bits, which makes every amount BYTES_UNKNOWN */
		memset(s->bytes, 0xff, sizeof(s->bytes));
		s->taken_ns = last_ns + i * interval_ns;
	}
}

static bool is_of_owner(unsigned int part)
{
	return part < PART_STATE ? part >= PART_OWNER
				 : part >= PART_CELL && part < PART_NEED;
}

/*
 * Forget the earlier amounts by owner. Before the first heap read, the heap's memory was
 * attributed to other owners, and the screen must not show the difference as a change.
 */
static void restart_owners(struct history *h)
{
	const struct sample *last = &h->items[h->count - 1];

	for (unsigned int part = PART_OWNER; part < PART_COUNT_; part++) {
		if (!is_of_owner(part))
			continue;
		h->start.bytes[part] = last->bytes[part];
		for (size_t i = 0; i + 1 < h->count; i++)
			h->items[i].bytes[part] = BYTES_UNKNOWN;
	}
}

static void set_last(struct history *h, const struct usage *u)
{
	const unsigned int live = PART_OWNER + OWNER_LIVE;
	struct sample *s = &h->items[h->count - 1];

	s->taken_ns = u->taken_ns;
	for (unsigned int part = 0; part < PART_COUNT_; part++)
		s->bytes[part] = part_get(u, (enum part)part);
	if (h->count == 1)
		h->start = *s;
	if (!bytes_known(h->start.bytes[live]) && bytes_known(s->bytes[live]))
		restart_owners(h);
}

void history_add(struct history *h, const struct usage *u, uint64_t interval_ns)
{
	add_missing(h, u->taken_ns, interval_ns);
	add_sample(h);
	set_last(h, u);
}

void history_drop_after(struct history *h, uint64_t taken_ns)
{
	while (h->count > 0 && h->items[h->count - 1].taken_ns > taken_ns)
		h->count--;
}

void history_amend(struct history *h, const struct usage *u)
{
	if (h->count > 0)
		set_last(h, u);
}

uint64_t history_span_ns(const struct history *h)
{
	return h->count < 2 ? 0 : h->items[h->count - 1].taken_ns - h->start.taken_ns;
}

bool history_get_change(const struct history *h, enum part part, int64_t *ret_bytes)
{
	const struct sample *last;

	if (h->count < 2)
		return false;
	last = &h->items[h->count - 1];
	if (!bytes_known(last->bytes[part]) || !bytes_known(h->start.bytes[part]))
		return false;
	*ret_bytes = (int64_t)(last->bytes[part] - h->start.bytes[part]);
	return true;
}

bool history_get_rate(const struct history *h, enum part part, int64_t *ret_bytes_per_s)
{
	const struct sample *last, *first = NULL;
	uint64_t elapsed_ns;

	if (h->count < 2)
		return false;
	last = &h->items[h->count - 1];
	for (size_t i = h->count - 1; i > 0; i--) {
		const struct sample *s = &h->items[i - 1];

		if (first && last->taken_ns - s->taken_ns > RATE_WINDOW_NS)
			break;
		if (bytes_known(s->bytes[part]))
			first = s;
	}
	if (!first || !bytes_known(last->bytes[part]) ||
	    last->taken_ns <= first->taken_ns)
		return false;
	elapsed_ns = last->taken_ns - first->taken_ns;
	*ret_bytes_per_s =
		(int64_t)((__int128)(int64_t)(last->bytes[part] - first->bytes[part]) *
			  (int64_t)NS_PER_S / (int64_t)elapsed_ns);
	return true;
}

size_t history_copy(const struct history *h, enum part part, size_t max,
		    uint64_t *ret_bytes)
{
	size_t count = h->count < max ? h->count : max;

	for (size_t i = 0; i < count; i++)
		ret_bytes[i] = h->items[h->count - count + i].bytes[part];
	return count;
}
