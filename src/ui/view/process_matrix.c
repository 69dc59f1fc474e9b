/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/view/process_matrix.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "render/table/column.h"
#include "ui/data/data.h"
#include "ui/screen/meter.h"

/*
 * Widths of the columns of the matrix. A column that does not fit or is empty has width 0
 * and is left out.
 */
struct layout {
	int label, amount, share;
	/* width of the column of each page state; 0: not shown */
	int states[STATE_COUNT_];
	int change, rate;
};

struct matrix_page {
	const struct process_view *view;
	const struct usage *usage;
	struct canvas *canvas;
	struct area area;
	struct layout layout;
};

static const struct history *history_of(const struct matrix_page *m)
{
	return &m->view->data->history;
}

static unsigned int count_shown(const struct process_view *v, unsigned int first,
				unsigned int count)
{
	unsigned int shown = 0;

	for (unsigned int i = 0; i < count; i++)
		shown += process_shows(v, (enum part)(first + i));
	return shown;
}

const char *state_heading(enum page_state state)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	strbuf_addf(&name, "%s_bytes", page_state_names[state]);
	return column_find(&process_columns, name.text, name.length)->heading;
}

static int width_of(const struct layout *l)
{
	int width = l->label + l->amount + l->share + l->change + l->rate;

	for (unsigned int s = 0; s < STATE_COUNT_; s++)
		width += l->states[s];
	return width;
}

static struct layout lay_out(const struct process_view *v, int room)
{
	struct layout l = {
		.label = 9, .amount = 8, .share = 7, .change = 10, .rate = 9
	};
	int *const dispensable[] = { &l.share, &l.rate, &l.change };

	if (v->exact_bytes)
		l.amount = 15;
	for (unsigned int o = 0; o < OWNER_COUNT_; o++)
		if (process_shows(v, (enum part)(PART_OWNER + o)) &&
		    (int)strlen(owner_names[o]) + 3 > l.label)
			l.label = (int)strlen(owner_names[o]) + 3;
	for (unsigned int s = 0; s < STATE_COUNT_; s++)
		if (process_shows(v, (enum part)(PART_STATE + s)))
			l.states[s] =
				v->exact_bytes
					? 15
					: (int)strlen(state_heading((enum page_state)s)) +
						  3;
	for (size_t i = 0; i < 3 && width_of(&l) > room; i++)
		*dispensable[i] = 0;
	return l;
}

static void add_amount(const struct matrix_page *m, struct pen *pen, int width,
		       uint64_t bytes)
{
	char text[UNITS_TEXT_SIZE];

	if (m->view->exact_bytes && bytes_known(bytes)) {
		_cleanup_strbuf_ struct strbuf exact = STRBUF_INIT;

		strbuf_add_u64(&exact, bytes);
		pen_add_right(pen, width, exact.text);
		return;
	}
	pen_add_right(pen, width, bytes == 0 ? "." : units_format_bytes(bytes, text));
}

/* Highlight growth, which users look for even though it is not always a problem. */
static void add_change(struct pen *pen, int width, bool is_known, int64_t change)
{
	enum role before = pen->role;
	char text[UNITS_TEXT_SIZE];

	if (pen->role == ROLE_TEXT && is_known && change != 0)
		pen->role = change > 0 ? ROLE_GROWN : ROLE_SHRUNK;
	pen_add_right(pen, width,
		      !is_known	    ? "-"
		      : change == 0 ? "."
				    : units_format_change(change, text));
	pen->role = before;
}

static void add_change_since_start(const struct matrix_page *m, struct pen *pen,
				   int width, enum part part)
{
	int64_t change = 0;
	bool is_known = history_get_change(history_of(m), part, &change);

	add_change(pen, width, is_known, change);
}

static void add_rate(const struct matrix_page *m, struct pen *pen, int width,
		     enum part part)
{
	int64_t rate = 0;
	bool is_known = history_get_rate(history_of(m), part, &rate);

	add_change(pen, width, is_known, rate);
}

static void add_cell(const struct matrix_page *m, struct pen *pen, int width,
		     enum part part)
{
	if (width == 0)
		return;
	switch (m->view->mode) {
	case CELLS_CHANGE: add_change_since_start(m, pen, width, part); break;
	case CELLS_RATE: add_rate(m, pen, width, part); break;
	default: add_amount(m, pen, width, part_get(m->usage, part)); break;
	}
}

/* Draw the change and the rate of an amount at the right end of its line. */
static void add_margin(const struct matrix_page *m, struct pen *pen, enum part part)
{
	if (m->layout.change > 0)
		add_change_since_start(m, pen, m->layout.change, part);
	if (m->layout.rate > 0)
		add_rate(m, pen, m->layout.rate, part);
}

static struct pen line_at(const struct matrix_page *m, int line)
{
	/* outside the area, the pen has width 0 and draws nothing */
	return canvas_pen(m->canvas, m->area.x + 1, m->area.y + line,
			  line < m->area.height ? m->area.width - 1 : 0);
}

/*
 * Draw a heading with the time span of the changes, such as "IN 4.1s". Below a second, it
 * has no fraction: "IN 978.8ms" would touch the heading on its left.
 */
static void add_change_heading(const struct matrix_page *m, struct pen *pen)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t span_ns = history_span_ns(history_of(m));
	char span[UNITS_TEXT_SIZE];

	if (span_ns >= NS_PER_S)
		strbuf_addf(&text, "IN %s", units_format_duration(span_ns, span));
	else
		strbuf_addf(&text, "IN %" PRIu64 "ms", span_ns / NS_PER_MS);
	pen_add_right(pen, m->layout.change, span_ns > 0 ? text.text : "CHANGE");
}

static void draw_heading(const struct matrix_page *m)
{
	static const char *const titles[] = {
		[CELLS_AMOUNT] = "",
		[CELLS_CHANGE] = "change",
		[CELLS_RATE] = "per s",
	};
	struct pen pen = line_at(m, 0);
	struct area line = { m->area.x, m->area.y, m->area.width, 1 };

	canvas_fill(m->canvas, &line, ROLE_HEADING, ' ');
	pen.role = ROLE_HEADING;
	pen_addf(&pen, "%-*s", m->layout.label, titles[m->view->mode]);
	pen_add_right(&pen, m->layout.amount, "RSS");
	if (m->layout.share > 0)
		pen_add_right(&pen, m->layout.share, "SHARE");
	for (unsigned int s = 0; s < STATE_COUNT_; s++) {
		enum part part = (enum part)(PART_STATE + s);
		int width = m->layout.states[s];

		/* leave out a heading that does not fit, like pen_add_right() */
		if (width == 0 || pen.x + width > pen.end)
			continue;
		pen.role = ROLE_HEADING;
		pen_move_to(&pen, pen.x + width -
					  (int)strlen(state_heading((enum page_state)s)) -
					  2);
		meter_add_letter(&pen, part_role(part), part_letter(part));
		pen.role = m->view->chosen == part ? ROLE_HEADING_SORTED : ROLE_HEADING;
		pen_addf(&pen, " %s", state_heading((enum page_state)s));
	}
	pen.role = ROLE_HEADING;
	if (m->layout.change > 0)
		add_change_heading(m, &pen);
	if (m->layout.rate > 0)
		pen_add_right(&pen, m->layout.rate, "PER S");
}

static void add_share(const struct matrix_page *m, struct pen *pen, uint64_t bytes)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t rss_bytes = m->usage->total.bytes[SMAPS_RSS];
	unsigned int per_mille = units_per_mille(bytes, rss_bytes);

	if (m->layout.share == 0)
		return;
	if (bytes_known(bytes) && bytes_known(rss_bytes))
		strbuf_addf(&text, "%u.%u%%", per_mille / 10, per_mille % 10);
	pen_add_right(pen, m->layout.share, strbuf_text(&text));
}

static void add_label(struct pen *pen, enum part part, int width)
{
	int end = pen->x + width;

	meter_add_letter(pen, part_role(part), part_letter(part));
	pen_addf(pen, " %s", part_name(part));
	pen_move_to(pen, end);
}

static void draw_owner(const struct matrix_page *m, int line, unsigned int owner)
{
	enum part part = (enum part)(PART_OWNER + owner);
	struct pen pen = line_at(m, line);
	struct area all = { m->area.x, m->area.y + line, m->area.width, 1 };

	if (m->view->chosen == part && line < m->area.height) {
		canvas_fill(m->canvas, &all, ROLE_SELECTED, ' ');
		canvas_put(m->canvas, m->area.x, m->area.y + line, ROLE_SELECTED, '>');
		pen.role = ROLE_SELECTED;
	}
	add_label(&pen, part, m->layout.label);
	add_amount(m, &pen, m->layout.amount, part_get(m->usage, part));
	add_share(m, &pen, part_get(m->usage, part));
	for (unsigned int s = 0; s < STATE_COUNT_; s++)
		add_cell(m, &pen, m->layout.states[s],
			 (enum part)(PART_CELL + owner * STATE_COUNT_ + s));
	add_margin(m, &pen, part);
}

static void draw_total(const struct matrix_page *m, int line)
{
	struct pen pen = line_at(m, line);
	bool is_chosen = m->view->chosen == PART_RSS;

	pen.role = is_chosen ? ROLE_SELECTED : ROLE_STRONG;
	pen_addf(&pen, "%-*s", m->layout.label, "= Rss");
	add_amount(m, &pen, m->layout.amount, m->usage->total.bytes[SMAPS_RSS]);
	add_share(m, &pen, m->usage->total.bytes[SMAPS_RSS]);
	for (unsigned int s = 0; s < STATE_COUNT_; s++)
		if (m->layout.states[s] > 0)
			add_amount(m, &pen, m->layout.states[s],
				   m->usage->state_bytes[s]);
	pen.role = is_chosen ? ROLE_SELECTED : ROLE_TEXT;
	add_margin(m, &pen, PART_RSS);
}

/* Draw a line below the matrix with the change of each page state. */
static void draw_changes(const struct matrix_page *m, int line, const char *title,
			 void (*add)(const struct matrix_page *m, struct pen *pen,
				     int width, enum part part))
{
	struct pen pen = line_at(m, line);

	pen_addf(&pen, "%-*s", m->layout.label, title);
	add(m, &pen, m->layout.amount, PART_RSS);
	pen_move_to(&pen, pen.x + m->layout.share);
	for (unsigned int s = 0; s < STATE_COUNT_; s++)
		if (m->layout.states[s] > 0)
			add(m, &pen, m->layout.states[s], (enum part)(PART_STATE + s));
}

int matrix_height(const struct process_view *v)
{
	return (int)count_shown(v, PART_OWNER, OWNER_COUNT_) + 4;
}

int matrix_draw(const struct process_view *v, struct canvas *c, const struct area *area,
		bool has_changes)
{
	struct matrix_page m = { v, data_detail(v->data), c, *area,
				 lay_out(v, area->width - 2) };
	int line = 1;

	draw_heading(&m);
	for (unsigned int o = 0; o < OWNER_COUNT_; o++)
		if (process_shows(v, (enum part)(PART_OWNER + o)))
			draw_owner(&m, line++, o);
	draw_total(&m, line++);
	if (!has_changes)
		return line < area->height ? line : area->height;
	draw_changes(&m, line++, "change", add_change_since_start);
	draw_changes(&m, line++, "per s", add_rate);
	return line < area->height ? line : area->height;
}
