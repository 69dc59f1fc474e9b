/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/units.h"
#include "classify/process/classify_stats.h"
#include "ui/view/heap_parts.h"

#define NAME_WIDTH 34

static void draw_bounds(const struct heap_sheet *s)
{
	const struct heap_bounds *bounds = &s->findings->answer.bounds;
	struct pen pen = sheet_begin_heading(s);

	pen_addf(&pen, "%-*s", NAME_WIDTH, "RESIDENT, as reported");
	sheet_add_title(s, &pen, "REPORTED");
	sheet_add_title(s, &pen, "AT LEAST");
	sheet_add_title(s, &pen, "AT MOST");
	for (unsigned int o = 0; o <= OWNER_HEAP_LAST; o++) {
		pen = lines_next(s->lines);
		pen_addf(&pen, "%-*s", NAME_WIDTH, owner_names[o]);
		sheet_add_amount(s, &pen, bounds->reported_bytes[o]);
		sheet_add_amount(s, &pen, bounds->min_bytes[o]);
		sheet_add_amount(s, &pen, bounds->max_bytes[o]);
	}
	lines_next(s->lines);
}

static void add_figure(const struct heap_sheet *s, struct pen *pen, uint64_t figure,
		       bool is_count)
{
	if (is_count)
		pen_addf(pen, "%*llu", s->amount_width, (unsigned long long)figure);
	else
		sheet_add_amount(s, pen, figure);
}

static void add_value(const struct heap_sheet *s, const struct allocator_value *value)
{
	uint64_t walked = classify_stats_walked(&s->findings->answer.stats,
						&s->findings->heap, value->name);
	struct pen pen = lines_next(s->lines);

	pen_addf(&pen, "%-*s", NAME_WIDTH, value->name);
	add_figure(s, &pen, value->value, value->is_count);
	if (!bytes_known(walked))
		return;
	add_figure(s, &pen, walked, value->is_count);
	add_figure(s, &pen,
		   value->value > walked ? value->value - walked : walked - value->value,
		   value->is_count);
}

void sheet_draw_reported(const struct heap_sheet *s)
{
	const struct helper_answer *answer = &s->findings->answer;
	char cost[UNITS_TEXT_SIZE], stopped[UNITS_TEXT_SIZE];
	struct pen pen;

	if (!helper_answer_is_known(answer))
		return;
	if (s->findings->heap.is_reported)
		draw_bounds(s);
	pen = sheet_begin_heading(s);
	pen_addf(&pen, "%-*s", NAME_WIDTH, "REPORTED BY THE ALLOCATOR");
	sheet_add_title(s, &pen, "REPORTED");
	if (!s->findings->heap.is_reported) {
		sheet_add_title(s, &pen, "WALKED");
		sheet_add_title(s, &pen, "DIFF");
	}
	for (size_t i = 0; i < answer->stats.value_count; i++)
		add_value(s, &answer->stats.values[i]);
	pen = lines_next(s->lines);
	pen.role = ROLE_DIM;
	pen_addf(&pen, "answered in %s",
		 units_format_duration(answer->stats.cost_ns, cost));
	if (answer->was_injected)
		pen_addf(&pen, "; one thread was stopped %u times, for %s in total",
			 answer->stop_count,
			 units_format_duration(answer->stopped_ns, stopped));
}
