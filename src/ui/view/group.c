/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/view/group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "render/table/axis.h"
#include "ui/data/data.h"
#include "ui/screen/graph.h"
#include "ui/view/group_page.h"

void group_view_init(struct group_view *v, const struct data *data, bool exact_bytes)
{
	*v = (struct group_view){ .data = data, .exact_bytes = exact_bytes };
}

void group_view_release(struct group_view *v)
{
	free(v->order);
}

static int compare_usages(const void *a, const void *b)
{
	const struct usage *x = *(const struct usage *const *)a;
	const struct usage *y = *(const struct usage *const *)b;
	uint64_t of_x = bytes_known(x->total.bytes[SMAPS_PSS]) ? x->total.bytes[SMAPS_PSS]
							       : 0;
	uint64_t of_y = bytes_known(y->total.bytes[SMAPS_PSS]) ? y->total.bytes[SMAPS_PSS]
							       : 0;

	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	return x->process.pid - y->process.pid;
}

void group_view_update(struct group_view *v)
{
	const struct data_group *g = &v->data->group;

	v->count = 0;
	if (!g->is_read)
		return;
	v->order = xgrow(v->order, &v->order_capacity, g->processes->count + 1,
			 sizeof(*v->order));
	for (size_t i = 0; i < g->processes->count; i++)
		v->order[v->count++] = &g->processes->usages[i];
	qsort(v->order, v->count, sizeof(*v->order), compare_usages);
	for (size_t i = 0; i < v->count && v->cursor_pid != 0; i++)
		if (v->order[i]->process.pid == v->cursor_pid)
			v->list.cursor = i;
}

const struct usage *group_view_chosen(const struct group_view *v)
{
	return v->list.cursor < v->count ? v->order[v->list.cursor] : NULL;
}

static void follow_cursor(struct group_view *v)
{
	const struct usage *u = group_view_chosen(v);

	v->cursor_pid = u && v->list.cursor > 0 ? u->process.pid : 0;
}

bool group_view_act(struct group_view *v, enum action action)
{
	if (!list_move(&v->list, v->count, action))
		return false;
	follow_cursor(v);
	return true;
}

void group_view_choose_line(struct group_view *v, int y)
{
	size_t row = v->list.top + (size_t)(y - v->first_y);

	if (y < v->first_y || (size_t)(y - v->first_y) >= v->list.page || row >= v->count)
		return;
	v->list.cursor = row;
	follow_cursor(v);
}

/*
 * Draw the memory need over time. The axis extends to the limit, to show how far the need
 * is below it.
 */
static void draw_graph(struct group_page *p)
{
	const struct seen_growth *t = &p->group->need;
	struct graph graph = { .style = p->canvas->ascii ? GRAPH_ASCII : GRAPH_BRAILLE };
	struct area plot = { p->rest.x + 8, p->rest.y + 2, p->rest.width - 9,
			     p->rest.height - 2 };
	size_t column_max = graph_sample_count(graph.style, plot.width);
	size_t first = t->series.count > column_max ? t->series.count - column_max : 0;
	uint64_t max = 0;
	uint64_t *samples;
	struct pen pen;
	char text[UNITS_TEXT_SIZE];

	if (p->rest.height < GROUP_GRAPH_HEIGHT_MIN || t->series.count == 0)
		return;
	samples = xcalloc(t->series.count, sizeof(*samples));
	for (size_t i = first; i < t->series.count; i++) {
		samples[graph.count++] = t->series.points[i].bytes;
		max = t->series.points[i].bytes > max ? t->series.points[i].bytes : max;
	}
	group_page_line(p);
	pen = group_page_line(p);
	pen.role = ROLE_STRONG;
	pen_addf(&pen, "need %s",
		 units_format_bytes(t->series.points[t->series.count - 1].bytes, text));
	pen.role = ROLE_DIM;
	if (graph.count > 1)
		pen_addf(&pen, "  over %s",
			 units_format_duration(
				 t->series.points[t->series.count - 1].time_ns -
					 t->series.points[first].time_ns,
				 text));
	if (bytes_known(group_page_limit(p)) && group_page_limit(p) >= max)
		pen_add(&pen, ", up to the limit");
	graph.samples = samples;
	graph.axis_bytes = bytes_known(group_page_limit(p)) && group_page_limit(p) >= max
				   ? group_page_limit(p)
				   : axis_top_bytes(max);
	graph_draw_axis(&graph, p->canvas, &plot);
	graph_draw(&graph, p->canvas, &plot);
	free(samples);
}

void group_view_draw(struct group_view *v, struct canvas *c, const struct area *area)
{
	const struct data_group *g = &v->data->group;
	struct group_page page = { v, g, &g->figures, c, *area };
	size_t levels = (size_t)area->height / 4;

	if (!g->is_read) {
		struct pen pen = group_page_line(&page);

		pen_addf(&pen, "the group: %s",
			 g->error == -ENOENT ? "it is not in this sample"
			 : g->error	     ? strerror(-g->error)
			 : g->is_gone	     ? "the cgroup was removed"
					     : "not read yet");
		return;
	}
	group_page_figures(&page);
	if (area->height > 18)
		group_page_line(&page);
	group_page_levels(&page, levels > 2 ? levels : 2);
	if (area->height > 18)
		group_page_line(&page);
	group_page_processes(&page);
	draw_graph(&page);
}
