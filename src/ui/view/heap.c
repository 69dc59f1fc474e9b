/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/view/heap.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "classify/process/heap_problem.h"
#include "ui/data/data.h"
#include "ui/data/options.h"
#include "ui/data/replay.h"
#include "ui/screen/meter.h"
#include "ui/view/heap_parts.h"

#define HEAD_HEIGHT 2

void heap_view_init(struct heap_view *v, const struct data *data, bool exact_bytes)
{
	*v = (struct heap_view){ .data = data, .exact_bytes = exact_bytes };
}

void heap_view_go_to_top(struct heap_view *v)
{
	v->list.top = 0;
}

static bool go_to_part(struct heap_view *v, bool is_next)
{
	size_t last = v->line_count > v->list.page ? v->line_count - v->list.page : 0;
	size_t to = is_next ? last : 0;

	for (size_t i = 0; i < v->part_count; i++) {
		size_t line = v->part_lines[i];

		if (!is_next && line < v->list.top)
			to = line;
		if (is_next && line > v->list.top && line < to)
			to = line;
	}
	v->list.top = to;
	return true;
}

bool heap_view_act(struct heap_view *v, enum action action)
{
	if (action == ACTION_LEFT || action == ACTION_RIGHT)
		return go_to_part(v, action == ACTION_RIGHT);
	return list_scroll(&v->list, v->line_count, action);
}

/* Format the age of a heap read, such as "0.2s". */
static const char *format_age(uint64_t now_ns, uint64_t then_ns,
			      char buf[UNITS_TEXT_SIZE])
{
	return units_format_duration(now_ns > then_ns ? now_ns - then_ns : 0, buf);
}

static void draw_head(const struct heap_view *v, struct canvas *c,
		      const struct area *area)
{
	const struct heap_findings *f = data_heap_findings(v->data);
	const struct usage *u = data_detail(v->data);
	struct pen pen = canvas_pen(c, area->x + 1, area->y, area->width - 2);
	char pause[UNITS_TEXT_SIZE];

	pen.role = ROLE_STRONG;
	if (u)
		pen_add_foreign(&pen, u->process.comm, strlen(u->process.comm));
	pen.role = ROLE_TEXT;
	pen_addf(&pen, " (%d)", v->data->detail_pid);
	if (f && !f->error && heap_total_quality(&f->heap) != QUALITY_UNKNOWN) {
		for (size_t i = 0; i < heap_count(&f->heap); i++)
			pen_addf(&pen, "%s%s",
				 i == 0				 ? "  "
				 : i + 1 == heap_count(&f->heap) ? " and "
								 : ", ",
				 allocator_titles[heap_at(&f->heap, i)->allocator]);
		pen_addf(&pen, ", %s", quality_names[heap_total_quality(&f->heap)]);
		if (f->heap.pause_ns > 0)
			pen_addf(&pen, "; paused for %s",
				 units_format_duration(f->heap.pause_ns, pause));
		if (f->heap.reading_count > 0)
			pen_addf(&pen, "; not paused, read %u times",
				 f->heap.reading_count);
	}
}

/* Draw the progress of the leak scan, such as "looking for leaks 45% [##### ]". */
static void draw_progress(struct pen *pen, uint64_t per_mille)
{
	const enum role role = ROLE_GRAPH;
	const struct meter meter = { &per_mille, 1, 1000, "#", &role };

	pen_addf(pen, "looking for leaks %3u%% ", (unsigned int)per_mille / 10);
	meter_draw(&meter, pen);
}

/*
 * Return true if the user is waiting for the heap read. Automatic reads are
 * not announced.
 */
static bool is_waited_for(const struct data_heap *h)
{
	return h->is_reading && (h->is_awaited || !h->is_known);
}

/* Draw the progress of the heap read, or a problem that affects the figures. */
static void draw_notice(const struct heap_view *v, struct canvas *c,
			const struct area *area, uint64_t now_ns)
{
	const struct heap_findings *f = data_heap_findings(v->data);
	const struct data_heap *h = &v->data->heap;
	struct pen pen = canvas_pen(c, area->x + 1, area->y + 1, area->width - 2);
	char text[UNITS_TEXT_SIZE];

	pen.role = ROLE_STRONG;
	if (h->is_wanted && !h->is_reading)
		pen_add(&pen, "waiting for an earlier read to end");
	else if (is_waited_for(h) && h->progress_per_mille >= 0)
		draw_progress(&pen, (uint64_t)h->progress_per_mille);
	else if (is_waited_for(h))
		pen_addf(&pen, "reading the heap%s: %s",
			 h->reading_wishes & HEAP_LEAKS ? ", for leaks" : "",
			 format_age(now_ns, h->began_ns, text));
	else if (f && f->answer.problem)
		pen_addf(&pen, "the allocator was not queried: %s", f->answer.problem);
	else if (f && heap_findings_are_known(f) && heap_total_problem(&f->heap))
		pen_addf(&pen, "incomplete: %s", heap_total_problem(&f->heap));
}

static void add_sentence(struct lines *l, const char *text)
{
	_cleanup_strbuf_ struct strbuf wrapped = STRBUF_INIT;
	char *rest, *line;

	text_add_wrapped(&wrapped, text, 0, (size_t)l->area.width - 2);
	rest = wrapped.text;
	while ((line = strsep(&rest, "\n")) && (line[0] != '\0' || rest)) {
		struct pen pen = lines_next(l);

		pen_add(&pen, line);
	}
}

static void add_pause(const struct heap_view *v, struct lines *l)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t pause_ns = data_heap_estimate_ns(v->data, 0);
	char pause[UNITS_TEXT_SIZE];

	if (!data_heap_can_be_read(v->data))
		return;
	strbuf_addf(&text, "F5 reads it: the process would be paused for about %s.",
		    units_format_duration(pause_ns, pause));
	lines_next(l);
	if (bytes_known(pause_ns))
		add_sentence(l, text.text);
}

static void add_failure(const struct heap_findings *f, struct strbuf *out)
{
	const char *help = heap_error_help(f->error);
	char pause[UNITS_TEXT_SIZE];

	strbuf_add_text(out, "Heap not read: ");
	if (f->error == -EFBIG)
		strbuf_addf(out, "it would be paused for about %s",
			    units_format_duration(f->heap.expected_ns, pause));
	else
		strbuf_add_text(out, heap_error_text(f->error));
	strbuf_addf(out, "%s%s.", help ? "; " : "", help ? help : "");
}

/* Draw the reason why there are no heap figures. */
static void draw_unknown(const struct heap_view *v, struct lines *l)
{
	const struct heap_findings *f = data_heap_findings(v->data);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const struct usage *u = data_detail(v->data);
	const char *allocator = u ? allocator_titles[u->allocator] : NULL;

	if (data_is_replayed(v->data))
		strbuf_add_text(
			&text,
			"A recording has only the heap figures that the process view "
			"shows.");
	else if (!f && !v->data->options->is_live)
		strbuf_add_text(
			&text,
			"A capture does not contain memory from which a heap could be "
			"read.");
	else if (!v->data->options->fs)
		strbuf_add_text(&text, "Heaps are not read: --heap off.");
	else if (!f && (!u || !u->error) && v->data->heap.is_reading)
		return;
	else if (!f || (f->usage.error && !f->error))
		strbuf_add_text(&text, "The heap has not been read.");
	else if (f->error)
		add_failure(f, &text);
	else
		strbuf_addf(&text, "The heap is unknown: %s.",
			    f->heap.problem ? f->heap.problem : "no allocator was found");
	if (u && u->error)
		strbuf_addf(&text, " The process cannot be read: %s.",
			    strerror(-u->error));
	add_sentence(l, text.text);
	if (allocator && (!f || !f->heap.problem)) {
		strbuf_clear(&text);
		strbuf_addf(&text, "Its mappings suggest %s.", allocator);
		add_sentence(l, text.text);
	}
	add_pause(v, l);
}

void heap_view_draw(struct heap_view *v, struct canvas *c, const struct area *area,
		    uint64_t now_ns)
{
	const struct heap_findings *f = data_heap_findings(v->data);
	struct lines lines = {
		.area = { area->x, area->y + HEAD_HEIGHT, area->width,
			  area->height - HEAD_HEIGHT },
	};

	draw_head(v, c, area);
	draw_notice(v, c, area, now_ns);
	v->part_count = 0;
	if (!f || !heap_findings_are_known(f)) {
		lines.canvas = c;
		draw_unknown(v, &lines);
		v->line_count = 0;
		return;
	}
	/* draw the view twice, because the first pass only counts the lines */
	heap_parts_draw(v, &lines, f, now_ns);
	v->line_count = lines.count;
	v->list.cursor = v->list.top;
	list_fit(&v->list, v->line_count, lines.area.height);
	lines.canvas = c;
	lines.top = v->list.top;
	lines.count = 0;
	heap_parts_draw(v, &lines, f, now_ns);
}
