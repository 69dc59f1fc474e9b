/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/data/seen_growth.h"

#include "base/units.h"

#define SAMPLES_MIN (2 * GROWTH_FLOORS_MAX)

void seen_growth_release(struct seen_growth *s)
{
	growth_series_release(&s->series);
	s->is_found = false;
}

void seen_growth_clear(struct seen_growth *s)
{
	growth_series_clear(&s->series);
	s->is_found = false;
}

void seen_growth_add(struct seen_growth *s, uint64_t time_ns, uint64_t bytes)
{
	if (!bytes_known(bytes) ||
	    (s->series.added_count > 0 && time_ns <= s->series.last.time_ns))
		return;
	growth_series_add(&s->series, time_ns, bytes);
	s->is_found = false;
}

const struct growth *seen_growth_find(struct seen_growth *s)
{
	if (s->is_found)
		return &s->growth;
	if (s->series.added_count < SAMPLES_MIN)
		s->growth = (struct growth){ .kind = GROWTH_TOO_SHORT };
	else
		growth_find(s->series.points, s->series.count, &s->growth);
	s->is_found = true;
	return &s->growth;
}
