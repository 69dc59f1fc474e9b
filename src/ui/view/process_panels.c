/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/view/process_panels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/xalloc.h"
#include "render/table/axis.h"
#include "ui/data/data.h"

#define TWO_GRAPHS_WIDTH 60
#define PANEL_GRAPHS_MAX 4
#define PANEL_GRAPH_HEIGHT 8

/*
 * Draw a graph of one amount over time, with the name and the current amount above the
 * graph, and the axis on the left.
 */
static void draw_graph(const struct process_view *v, struct canvas *c, enum part part,
		       const struct area *area)
{
	uint64_t samples[HISTORY_MAX];
	const struct history *h = &v->data->history;
	struct graph graph = { .samples = samples, .style = v->graph_style };
	struct area plot = { area->x + 8, area->y + 1, area->width - 9,
			     area->height - 1 };
	struct pen pen = canvas_pen(c, area->x + 1, area->y, area->width - 1);
	char text[UNITS_TEXT_SIZE];
	uint64_t max = 0, span_ns = 0;
	size_t column_max;

	if (c->ascii)
		graph.style = GRAPH_ASCII;
	column_max = graph_sample_count(graph.style, plot.width);
	graph.count = history_copy(
		h, part, column_max < HISTORY_MAX ? column_max : HISTORY_MAX, samples);
	for (size_t i = 0; i < graph.count; i++)
		if (bytes_known(samples[i]) && samples[i] > max)
			max = samples[i];
	graph.axis_bytes = axis_top_bytes(max);
	if (graph.count > 1)
		span_ns = h->items[h->count - 1].taken_ns -
			  h->items[h->count - graph.count].taken_ns;
	pen.role = ROLE_STRONG;
	pen_addf(&pen, "%s %s", part_name(part),
		 units_format_bytes(part_get(data_detail(v->data), part), text));
	pen.role = ROLE_DIM;
	if (span_ns > 0)
		pen_addf(&pen, "  over %s", units_format_duration(span_ns, text));
	graph_draw_axis(&graph, c, &plot);
	graph_draw(&graph, c, &plot);
}

/* Return the amount that the second graph shows. */
static enum part second_part(const struct process_view *v)
{
	return v->chosen == PART_RSS ? PART_PSS : v->chosen;
}

void graphs_draw(const struct process_view *v, struct canvas *c, const struct area *area)
{
	struct area left = *area, right = *area;

	if (area->height < GRAPH_HEIGHT_MIN)
		return;
	if (area->width < TWO_GRAPHS_WIDTH) {
		draw_graph(v, c, PART_RSS, &left);
		return;
	}
	left.width = area->width / 2;
	right.x += left.width;
	right.width -= left.width;
	draw_graph(v, c, PART_RSS, &left);
	draw_graph(v, c, second_part(v), &right);
}

/*
 * Return the owner with the most memory, except for the owners in `parts`, an array of
 * `count` entries. Return PART_NAMED_COUNT_ if no other owner has memory.
 */
static enum part find_next_owner(const struct usage *u, const enum part *parts,
				 size_t count)
{
	enum part largest = PART_NAMED_COUNT_;
	uint64_t max_bytes = 0;

	for (unsigned int o = 0; o < OWNER_COUNT_; o++) {
		enum part part = (enum part)(PART_OWNER + o);
		uint64_t bytes = part_get(u, part);
		bool is_shown = false;

		for (size_t i = 0; i < count; i++)
			is_shown = is_shown || parts[i] == part;
		if (is_shown || !bytes_known(bytes) || bytes <= max_bytes)
			continue;
		max_bytes = bytes;
		largest = part;
	}
	return largest;
}

void panel_draw_graphs(const struct process_view *v, struct canvas *c,
		       const struct area *area)
{
	enum part parts[PANEL_GRAPHS_MAX] = { PART_RSS, second_part(v) };
	int room = area->height / PANEL_GRAPH_HEIGHT;
	int count = 2;

	while (count < PANEL_GRAPHS_MAX && count < room) {
		parts[count] =
			find_next_owner(data_detail(v->data), parts, (size_t)count);
		if (parts[count] == PART_NAMED_COUNT_)
			break;
		count++;
	}
	for (int i = 0; i < count; i++) {
		int top = area->height * i / count;
		int bottom = area->height * (i + 1) / count;
		/* a blank line separates two graphs */
		struct area graph = { area->x, area->y + top, area->width,
				      bottom - top - (i + 1 < count) };

		draw_graph(v, c, parts[i], &graph);
	}
}

static int compare_mappings(const void *a, const void *b)
{
	const struct mapping *m_a = *(const struct mapping *const *)a;
	const struct mapping *m_b = *(const struct mapping *const *)b;
	uint64_t rss_a = m_a->counters.bytes[SMAPS_RSS];
	uint64_t rss_b = m_b->counters.bytes[SMAPS_RSS];

	if (rss_a != rss_b)
		return rss_a < rss_b ? 1 : -1;
	return (m_a->start_addr > m_b->start_addr) - (m_a->start_addr < m_b->start_addr);
}

static void draw_mapping(const struct mapping *m, struct pen *pen)
{
	const char *name = mapping_group_name(m);
	char text[UNITS_TEXT_SIZE];

	pen_add_right(pen, 8, units_format_bytes(m->counters.bytes[SMAPS_RSS], text));
	pen_addf(pen, "  %-8s  ", m->owner < OWNER_COUNT_ ? owner_names[m->owner] : "-");
	if (name[0] == '\0')
		pen_addf(pen, "%012" PRIx64, m->start_addr);
	else
		pen_add_foreign_end(pen, name, strlen(name));
}

void panel_draw_mappings(const struct process_view *v, struct canvas *c,
			 const struct area *area)
{
	const struct mapping_list *list = &v->data->mappings;
	const struct mapping **order;
	size_t count = 0;
	struct pen pen;

	if (area->height < 3 || list->count == 0)
		return;
	order = xcalloc(list->count, sizeof(*order));
	/* leave out unknown amounts, which would sort as the largest */
	for (size_t i = 0; i < list->count; i++)
		if (bytes_known(list->items[i].counters.bytes[SMAPS_RSS]) &&
		    list->items[i].counters.bytes[SMAPS_RSS] > 0)
			order[count++] = &list->items[i];
	qsort(order, count, sizeof(*order), compare_mappings);
	canvas_fill(c, &(struct area){ area->x, area->y, area->width, 1 }, ROLE_HEADING,
		    ' ');
	pen = canvas_pen(c, area->x + 1, area->y, area->width - 1);
	pen.role = ROLE_HEADING;
	pen_addf(&pen, "%8s  %-8s  LARGEST MAPPINGS", "RSS", "OWNER");
	for (size_t i = 0; i < count && (int)i + 1 < area->height; i++) {
		pen = canvas_pen(c, area->x + 1, area->y + 1 + (int)i, area->width - 1);
		draw_mapping(order[i], &pen);
	}
	free(order);
}
