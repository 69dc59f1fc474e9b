/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <wchar.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "render/table/fit.h"
#include "render/table/output.h"
#include "render/table/style.h"

size_t text_display_width(const char *text, size_t length)
{
	size_t width = 0;

	while (length > 0) {
		uint32_t code_point;
		size_t size = text_utf8_next(text, length, &code_point);
		int columns = 1;

		if (size == 0)
			size = 1;
		else if (code_point >= 0x80)
			columns = wcwidth((wchar_t)code_point);
		width += columns > 0 ? (size_t)columns : 0;
		text += size;
		length -= size;
	}
	return width;
}

size_t text_cut_to_width(const char *text, size_t length, size_t width)
{
	size_t used = 0;
	size_t at = 0;

	while (at < length) {
		uint32_t code_point;
		size_t size = text_utf8_next(text + at, length - at, &code_point);

		size = size ? size : 1;
		used += text_display_width(text + at, size);
		if (used > width)
			break;
		at += size;
	}
	return at;
}

static bool is_left_aligned(const struct column *column)
{
	return column->kind == VALUE_TEXT || column->kind == VALUE_WORD;
}

/*
 * All cells of a table. `text` contains the strings of all cells, row by row, and `ends`
 * the offset at which each string ends.
 */
struct cells {
	struct strbuf text;
	size_t *ends;
	size_t *widths; /* width of the widest cell in each column */
	bool *omitted;	/* for each column, true if it does not fit */
	bool *zero;	/* for each column, true if it contains only zeros */
};

/* minimum width of a text column while other columns can still be omitted */
#define TEXT_WIDTH_MIN 16
/* minimum width of a text column if no other columns can be omitted */
#define TEXT_WIDTH_LEAST 4

static void add_cell(struct cells *cells, size_t index, size_t column, size_t begin)
{
	size_t width =
		text_display_width(cells->text.text + begin, cells->text.length - begin);

	cells->ends[index] = cells->text.length;
	if (width > cells->widths[column])
		cells->widths[column] = width;
}

static void format_cells(struct cells *cells, const struct column_list *columns,
			 const void *const *rows, size_t row_count,
			 const struct table_options *options)
{
	size_t index = 0;

	strbuf_add(&cells->text, "", 0);
	for (size_t c = 0; c < columns->count; c++)
		cells->zero[c] = row_count > 0 && !is_left_aligned(columns->items[c]);
	for (size_t c = 0; c < columns->count; c++, index++) {
		const struct column *column = columns->items[c];
		size_t begin = cells->text.length;

		if (!options->no_headings)
			strbuf_add_text(&cells->text,
					column->heading ? column->heading : column->name);
		add_cell(cells, index, c, begin);
	}
	for (size_t r = 0; r < row_count; r++) {
		for (size_t c = 0; c < columns->count; c++, index++) {
			const struct column *column = columns->items[c];
			size_t begin = cells->text.length;
			struct value value = { 0 };

			column->get(rows[r], column->arg, &value);
			value_add_text(&cells->text, column, &value, options->exact_bytes,
				       options->ascii);
			if (strcmp(cells->text.text + begin, "0") != 0)
				cells->zero[c] = false;
			add_cell(cells, index, c, begin);
		}
	}
}

/* Return the total width of a line of the table. */
static size_t sum_widths(const struct cells *cells, size_t count)
{
	size_t sum = 0;

	for (size_t c = 0; c < count; c++)
		if (!cells->omitted[c])
			sum += cells->widths[c] + 1;
	return sum > 0 ? sum - 1 : 0;
}

/* Return the minimum width of a column. Text can be shortened, but numbers cannot. */
static size_t find_min(const struct cells *cells, const struct column_list *columns,
		       size_t c)
{
	if (is_left_aligned(columns->items[c]) && cells->widths[c] > TEXT_WIDTH_MIN)
		return TEXT_WIDTH_MIN;
	return cells->widths[c];
}

/* Omit columns that are 0 in all rows, beginning at the right, until the table fits. */
static void omit_zeros(struct cells *cells, const struct column_list *columns, size_t max)
{
	for (size_t c = columns->count;
	     c-- > 1 && sum_widths(cells, columns->count) > max;)
		cells->omitted[c] = cells->zero[c];
}

/*
 * Omit columns, beginning at the right, until the remaining columns fit with
 * shortened text. Keep the last column if it is text, because it usually contains the
 * name of the row.
 */
static void omit_columns(struct cells *cells, const struct column_list *columns,
			 size_t max)
{
	size_t sum = 0, c = columns->count;

	for (size_t i = 0; i < columns->count; i++)
		if (!cells->omitted[i])
			sum += find_min(cells, columns, i) + (i > 0);
	if (c > 0 && is_left_aligned(columns->items[c - 1]))
		c--;
	while (sum > max && c > 1) {
		c--;
		if (cells->omitted[c])
			continue;
		cells->omitted[c] = true;
		sum -= find_min(cells, columns, c) + 1;
	}
}

/*
 * Return the index of the widest text column, or -1 if no text column is wider
 * than `min`.
 */
static ssize_t find_widest(const struct cells *cells, const struct column_list *columns,
			   size_t min)
{
	ssize_t widest = -1;

	for (size_t c = 0; c < columns->count; c++)
		if (!cells->omitted[c] && is_left_aligned(columns->items[c]) &&
		    cells->widths[c] > min) {
			widest = (ssize_t)c;
			min = cells->widths[c];
		}
	return widest;
}

/*
 * Make the lines of the table at most options->max_width characters wide: omit columns if
 * this is necessary, and narrow the widest text columns.
 */
static void fit_columns(struct cells *cells, const struct column_list *columns,
			const struct table_options *options)
{
	size_t max = (size_t)options->max_width;
	size_t sum = sum_widths(cells, columns->count);
	ssize_t widest;

	if (sum <= max)
		return;
	if (options->may_omit_zeros)
		omit_zeros(cells, columns, max);
	omit_columns(cells, columns, max);
	for (sum = sum_widths(cells, columns->count); sum > max; sum--) {
		widest = find_widest(cells, columns, TEXT_WIDTH_LEAST);
		if (widest < 0)
			return;
		cells->widths[widest]--;
	}
}

static void add_text(struct strbuf *out, const char *text, size_t length, size_t width,
		     bool is_heading, const struct table_options *options)
{
	enum style style = is_heading			   ? STYLE_HEADING
			   : length == 1 && text[0] == '-' ? STYLE_UNKNOWN
							   : STYLE_PLAIN;

	style_begin(out, style, options->colour);
	fit_add_short(out, text, length, width, options->ascii);
	style_end(out, style, options->colour);
}

static void add_line(struct strbuf *out, const struct cells *cells,
		     const struct column_list *columns, size_t first_index,
		     const struct table_options *options)
{
	bool is_first = true;
	size_t last = columns->count;

	while (last > 1 && cells->omitted[last - 1])
		last--;
	for (size_t c = 0; c < last; c++) {
		size_t begin = first_index + c > 0 ? cells->ends[first_index + c - 1] : 0;
		const char *text = cells->text.text + begin;
		size_t length = cells->ends[first_index + c] - begin;
		size_t width = text_display_width(text, length);
		size_t room = cells->widths[c];
		bool is_left = is_left_aligned(columns->items[c]);

		if (cells->omitted[c])
			continue;
		if (!is_first)
			strbuf_add_char(out, ' ');
		is_first = false;
		if (width > room)
			width = room;
		if (!is_left)
			strbuf_add_repeat(out, " ", room - width);
		add_text(out, text, length, room, first_index == 0, options);
		if (is_left && c + 1 < last)
			strbuf_add_repeat(out, " ", room - width);
	}
	strbuf_add_char(out, '\n');
}

/* Append the names of the columns that were omitted to make the table fit. */
static void add_omitted(struct strbuf *out, const struct cells *cells,
			const struct column_list *columns,
			const struct table_options *options)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	for (size_t c = 0; c < columns->count; c++)
		if (cells->omitted[c])
			strbuf_addf(&line, "%s %s%s",
				    line.length > 0 ? "," : "Omitted to fit the width:",
				    columns->items[c]->heading
					    ? columns->items[c]->heading
					    : columns->items[c]->name,
				    cells->zero[c] ? " (all 0)" : "");
	if (line.length == 0)
		return;
	style_begin(out, STYLE_UNKNOWN, options->colour);
	fit_add_lines(out, line.text, (size_t)options->max_width, options->ascii);
	style_end(out, STYLE_UNKNOWN, options->colour);
	strbuf_add_char(out, '\n');
}

void table_add(struct strbuf *out, const struct column_list *columns,
	       const void *const *rows, size_t row_count,
	       const struct table_options *options)
{
	struct cells cells = { .text = STRBUF_INIT };

	cells.ends = xcalloc((row_count + 1) * columns->count, sizeof(*cells.ends));
	cells.widths = xcalloc(columns->count, sizeof(*cells.widths));
	cells.omitted = xcalloc(columns->count, sizeof(*cells.omitted));
	cells.zero = xcalloc(columns->count, sizeof(*cells.zero));
	format_cells(&cells, columns, rows, row_count, options);
	if (options->max_width > 0)
		fit_columns(&cells, columns, options);
	for (size_t r = options->no_headings ? 1 : 0; r <= row_count; r++)
		add_line(out, &cells, columns, r * columns->count, options);
	add_omitted(out, &cells, columns, options);
	strbuf_release(&cells.text);
	free(cells.ends);
	free(cells.widths);
	free(cells.omitted);
	free(cells.zero);
}
