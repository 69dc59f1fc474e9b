/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/screen/grid.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "render/table/output.h"

/* Maximum width of text columns, except for the last column. */
#define TEXT_WIDTH_MAX 20
#define LAST_WIDTH_MIN 8

void grid_init(struct grid *g, const struct column_set *set, const char *names,
	       const char *sort)
{
	memset(g, 0, sizeof(*g));
	g->set = set;
	g->widths = xcalloc(set->count, sizeof(*g->widths));
	g->xs = xcalloc(set->count + 1, sizeof(*g->xs));
	grid_set_columns(g, names);
	(void)sort_key_parse(set, sort, &g->sort);
}

void grid_release(struct grid *g)
{
	column_list_release(&g->columns);
	free(g->widths);
	free(g->xs);
}

void grid_set_columns(struct grid *g, const char *names)
{
	char *bad = NULL;

	column_list_release(&g->columns);
	if (column_list_parse(g->set, names, names, &g->columns, &bad) < 0)
		free(bad);
	g->first_column = 0;
}

void grid_sort_by(struct grid *g, const struct column *column)
{
	if (g->sort.column == column)
		g->sort.is_descending = !g->sort.is_descending;
	else
		g->sort = (struct sort_key){ column, column->is_descending };
}

static size_t place_of(const struct grid *g, const struct column *column)
{
	size_t i = 0;

	while (i < g->columns.count && g->columns.items[i] != column)
		i++;
	return i;
}

bool grid_has_column(const struct grid *g, const struct column *column)
{
	return place_of(g, column) < g->columns.count;
}

static void remove_column(struct column_list *list, size_t at)
{
	list->count--;
	memmove(&list->items[at], &list->items[at + 1],
		(list->count - at) * sizeof(*list->items));
}

static void insert_column(struct column_list *list, size_t at,
			  const struct column *column)
{
	list->items = xgrow(list->items, &list->capacity, list->count + 1,
			    sizeof(*list->items));
	memmove(&list->items[at + 1], &list->items[at],
		(list->count - at) * sizeof(*list->items));
	list->items[at] = column;
	list->count++;
}

void grid_toggle_column(struct grid *g, const struct column *column)
{
	size_t at = place_of(g, column);

	g->first_column = 0;
	g->is_chosen = true;
	if (at < g->columns.count) {
		if (g->columns.count > 1)
			remove_column(&g->columns, at);
		return;
	}
	/*
	 * if the last column is text, insert the new column before it, because the last
	 * column gets the remaining width
	 */
	at = g->columns.count;
	if (at > 0 && g->columns.items[at - 1]->kind == VALUE_TEXT)
		at--;
	while (at > 0 && g->columns.items[at - 1] > column &&
	       g->columns.items[at - 1]->kind != VALUE_TEXT)
		at--;
	insert_column(&g->columns, at, column);
}

bool grid_move(struct grid *g, size_t row_count, enum action action)
{
	if (list_move(&g->list, row_count, action))
		return true;
	if (action == ACTION_LEFT)
		g->first_column -= g->first_column > 0;
	else if (action == ACTION_RIGHT)
		g->first_column += g->first_column + 2 < g->columns.count;
	else
		return false;
	return true;
}

static bool is_text(const struct column *column)
{
	return column->kind == VALUE_TEXT || column->kind == VALUE_WORD;
}

/* Return the heading of the column, such as "RSS", or its name if it has no heading. */
static const char *grid_heading(const struct column *column)
{
	return column->heading ? column->heading : column->name;
}

static void format_cell(const struct column *column, const void *row,
			const struct grid_rows *rows, bool ascii, struct strbuf *out)
{
	struct value value = { 0 };

	strbuf_clear(out);
	column->get(row, column->arg, &value);
	value_add_text(out, column, &value, rows->exact_bytes, ascii);
}

/*
 * Append the strings of a row that a search examines: those of the text columns and of
 * the first column, separated by newlines.
 */
static void add_row_text(const struct grid *g, const void *row, struct strbuf *out)
{
	const struct grid_rows plain = { 0 };
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < g->columns.count; i++) {
		if (i > 0 && !is_text(g->columns.items[i]))
			continue;
		format_cell(g->columns.items[i], row, &plain, false, &text);
		strbuf_addf(out, "%s\n", strbuf_text(&text));
	}
}

bool grid_row_matches(const struct grid *g, const void *row, const char *words)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	add_row_text(g, row, &text);
	return text_has_words(strbuf_text(&text), words);
}

size_t grid_search(const struct grid *g, const void *const *rows, size_t count,
		   const char *words, int step)
{
	size_t at = g->list.cursor;

	if (words[0] == '\0')
		return SIZE_MAX;
	for (size_t tried = 0; tried < count; tried++) {
		if (tried > 0 || step != 0)
			at = (at + count + (size_t)(step < 0 ? -1 : 1)) % count;
		if (grid_row_matches(g, rows[at], words))
			return at;
	}
	return SIZE_MAX;
}

static int *width_of(const struct grid *g, const struct column *column)
{
	return &g->widths[column - g->set->columns];
}

static void measure(struct grid *g, const struct grid_rows *rows, bool ascii)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < g->columns.count; i++) {
		const struct column *column = g->columns.items[i];
		int *width = width_of(g, column);
		int need = (int)strlen(grid_heading(column)) + (column == g->sort.column);

		if (column->kind == VALUE_BYTES && need < 6)
			need = 6;
		if (need > *width)
			*width = need;
		for (size_t r = g->list.top;
		     r < rows->count && r < g->list.top + g->list.page; r++) {
			format_cell(column, rows->rows[r], rows, ascii, &text);
			need = (int)text_display_width(text.text, text.length);
			if (is_text(column) && need > TEXT_WIDTH_MAX)
				need = TEXT_WIDTH_MAX;
			if (need > *width)
				*width = need;
		}
	}
}

/* Place columns from left to right while there is room. */
static void place_columns(struct grid *g)
{
	int x = g->area.x + 1;
	int end = g->area.x + g->area.width;

	for (size_t i = 0; i < g->columns.count; i++) {
		const struct column *column = g->columns.items[i];
		bool is_last = i + 1 == g->columns.count;
		int width = *width_of(g, column);

		g->xs[i] = -1;
		if (i > 0 && i <= g->first_column)
			continue;
		if (is_last && is_text(column) && width > LAST_WIDTH_MIN)
			width = LAST_WIDTH_MIN;
		if (x + width > end && i > 0) {
			for (; i < g->columns.count; i++)
				g->xs[i] = -1;
			return;
		}
		g->xs[i] = x;
		x += width + 1;
	}
}

static bool is_wide(const struct grid *g, size_t i)
{
	return i + 1 == g->columns.count && is_text(g->columns.items[i]);
}

static int room_of(const struct grid *g, size_t i)
{
	if (is_wide(g, i))
		return g->area.x + g->area.width - g->xs[i];
	return *width_of(g, g->columns.items[i]);
}

static void draw_headings(const struct grid *g, struct canvas *c)
{
	const char *arrow = g->sort.is_descending ? (c->ascii ? "v" : "▼")
						  : (c->ascii ? "^" : "▲");
	struct area line = { g->area.x, g->area.y, g->area.width, 1 };
	bool is_more = false;

	canvas_fill(c, &line, ROLE_HEADING, ' ');
	for (size_t i = 0; i < g->columns.count; i++) {
		const struct column *column = g->columns.items[i];
		bool is_sorted = column == g->sort.column;
		struct pen pen;

		if (g->xs[i] < 0) {
			is_more = is_more || i > g->first_column;
			continue;
		}
		pen = canvas_pen(c, g->xs[i], g->area.y, room_of(g, i));
		pen.role = is_sorted ? ROLE_HEADING_SORTED : ROLE_HEADING;
		if (!is_text(column))
			pen_move_to(&pen, pen.end - (int)strlen(grid_heading(column)) -
						  is_sorted);
		pen_addf(&pen, "%s%s", grid_heading(column), is_sorted ? arrow : "");
	}
	if (g->first_column > 0)
		canvas_put(c, g->area.x, g->area.y, ROLE_HEADING,
			   c->ascii ? '<' : 0x2039);
	if (is_more)
		canvas_put(c, g->area.x + g->area.width - 1, g->area.y, ROLE_HEADING,
			   c->ascii ? '>' : 0x203a);
}

static void draw_row(const struct grid *g, struct canvas *c, const struct grid_rows *rows,
		     size_t row)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf prefix = STRBUF_INIT;
	struct row_style style = { ROLE_TEXT, ' ', &prefix };
	int y = g->area.y + 1 + (int)(row - g->list.top);
	struct area line = { g->area.x, y, g->area.width, 1 };

	if (rows->style)
		rows->style(rows->context, row, &style);
	if (row == g->list.cursor)
		style.role = ROLE_SELECTED;
	canvas_fill(c, &line, style.role, ' ');
	canvas_put(c, g->area.x, y, style.role,
		   (uint32_t)(style.mark != ' '	      ? style.mark
			      : row == g->list.cursor ? '>'
						      : ' '));
	for (size_t i = 0; i < g->columns.count; i++) {
		const struct column *column = g->columns.items[i];
		struct pen pen;

		if (g->xs[i] < 0)
			continue;
		format_cell(column, rows->rows[row], rows, c->ascii, &text);
		pen = canvas_pen(c, g->xs[i], y, room_of(g, i));
		pen.role = style.role;
		if (is_wide(g, i))
			pen_add(&pen, strbuf_text(&prefix));
		if (is_wide(g, i) && g->cuts_front)
			pen_add_foreign_end(&pen, text.text, text.length);
		else if (is_text(column))
			pen_add_foreign(&pen, text.text, text.length);
		else
			pen_add_right(&pen, room_of(g, i), text.text);
	}
}

void grid_draw(struct grid *g, struct canvas *c, const struct area *area,
	       const struct grid_rows *rows)
{
	g->area = *area;
	list_fit(&g->list, rows->count, area->height - 1);
	measure(g, rows, c->ascii);
	place_columns(g);
	draw_headings(g, c);
	for (size_t r = g->list.top; r < rows->count && r < g->list.top + g->list.page;
	     r++)
		draw_row(g, c, rows, r);
}

const struct column *grid_heading_at(const struct grid *g, int x, int y)
{
	if (y != g->area.y)
		return NULL;
	for (size_t i = 0; i < g->columns.count; i++)
		if (g->xs[i] >= 0 && x >= g->xs[i] && x < g->xs[i] + room_of(g, i))
			return g->columns.items[i];
	return NULL;
}

size_t grid_row_at(const struct grid *g, size_t row_count, int x, int y)
{
	size_t row = g->list.top + (size_t)(y - g->area.y - 1);

	if (y <= g->area.y || y >= g->area.y + g->area.height || x < g->area.x ||
	    row >= row_count)
		return SIZE_MAX;
	return row;
}
