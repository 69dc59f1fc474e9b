/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/growth/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/xalloc.h"

/*
 * Number of zones of the timeline. All zones have the same number of intervals, but each
 * zone covers only a tenth of the previous zone's time.
 */
#define ZONES 4
#define ZONE_STRETCHES 120
#define LAST_STRETCH (ZONES * ZONE_STRETCHES - 1)

void timeline_init(struct timeline *t, uint64_t begin_ms, uint64_t end_ms)
{
	memset(t, 0, sizeof(*t));
	t->begin_ms = begin_ms;
	t->end_ms = end_ms > begin_ms ? end_ms : begin_ms + 1;
}

void timeline_release(struct timeline *t)
{
	free(t->rows);
	memset(t, 0, sizeof(*t));
}

/*
 * Return the index of the interval that contains the time. The first zone covers the
 * first nine tenths of the timeline, the second zone nine tenths of the remainder, and
 * so on.
 */
static size_t stretch_of(const struct timeline *t, uint64_t unix_ms)
{
	uint64_t from = t->begin_ms, length = t->end_ms - t->begin_ms;

	for (size_t zone = 0;; zone++) {
		uint64_t zone_length = zone + 1 < ZONES ? length - length / 10 : length;
		uint64_t into = unix_ms > from ? unix_ms - from : 0;

		if (into < zone_length)
			return zone * ZONE_STRETCHES +
			       (size_t)((double)into / (double)zone_length *
					ZONE_STRETCHES);
		if (zone + 1 == ZONES)
			return LAST_STRETCH;
		from += zone_length;
		length -= zone_length;
	}
}

static void keep(struct timeline *t, const struct timeline_row *row)
{
	if (t->count > 0 && t->rows[t->count - 1].unix_ms == row->unix_ms &&
	    t->rows[t->count - 1].total_bytes == row->total_bytes)
		return;
	t->rows = xgrow(t->rows, &t->capacity, t->count + 1, sizeof(*t->rows));
	t->rows[t->count++] = *row;
}

/*
 * Finish an interval: keep its rows with the smallest and the largest total. Also keep
 * the first row of the timeline and the first row after each gap, because the lines of
 * the chart begin at these rows.
 */
static void end_stretch(struct timeline *t)
{
	bool is_smallest_first = t->smallest.unix_ms < t->largest.unix_ms;

	if (!t->is_begun)
		return;
	if (t->count == 0 || !bytes_known(t->rows[t->count - 1].total_bytes))
		keep(t, &t->first);
	keep(t, is_smallest_first ? &t->smallest : &t->largest);
	keep(t, is_smallest_first ? &t->largest : &t->smallest);
	t->is_begun = false;
}

void timeline_add(struct timeline *t, const struct timeline_row *row)
{
	struct timeline_row added = *row;
	size_t stretch;

	if (added.unix_ms < t->last.unix_ms)
		added.unix_ms = t->last.unix_ms;
	stretch = stretch_of(t, added.unix_ms);
	if (stretch != t->stretch)
		end_stretch(t);
	t->stretch = stretch;
	if (!t->is_begun) {
		t->first = t->largest = t->smallest = added;
		t->is_begun = true;
	}
	if (added.total_bytes > t->largest.total_bytes)
		t->largest = added;
	if (added.total_bytes < t->smallest.total_bytes)
		t->smallest = added;
	if (t->last.unix_ms == 0 || added.total_bytes > t->peak.total_bytes)
		t->peak = added;
	t->last = added;
}

void timeline_add_gap(struct timeline *t, uint64_t unix_ms)
{
	struct timeline_row gap;

	memset(&gap, 0xff, sizeof(gap)); /* set all values to unknown */
	gap.unix_ms = unix_ms > t->last.unix_ms ? unix_ms : t->last.unix_ms;
	if (t->last.unix_ms == 0 ||
	    (t->has_gap && t->gap_stretch == stretch_of(t, gap.unix_ms)))
		return;
	t->has_gap = true;
	t->gap_stretch = stretch_of(t, gap.unix_ms);
	timeline_end(t);
	keep(t, &gap);
}

void timeline_end(struct timeline *t)
{
	bool is_begun = t->is_begun;

	end_stretch(t);
	if (is_begun)
		keep(t, &t->last);
}
