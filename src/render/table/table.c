/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "render/table/output.h"

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
 * All cells of a table: the text of each cell, row by row, the end of each text, and the
 * width of each column.
 */
struct cells {
	struct strbuf text;
	size_t *ends;
	size_t *widths; /* width of each column's widest cell */
};

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
			add_cell(cells, index, c, begin);
		}
	}
}

static void add_line(struct strbuf *out, const struct cells *cells,
		     const struct column_list *columns, size_t first_index,
		     const struct table_options *options)
{
	size_t used = 0;

	for (size_t c = 0; c < columns->count; c++) {
		size_t begin = first_index + c > 0 ? cells->ends[first_index + c - 1] : 0;
		const char *text = cells->text.text + begin;
		size_t length = cells->ends[first_index + c] - begin;
		size_t width = text_display_width(text, length);
		size_t pad = cells->widths[c] - width;
		bool is_left = is_left_aligned(columns->items[c]);
		bool is_last = c + 1 == columns->count;

		if (c > 0)
			strbuf_add_char(out, ' ');
		if (!is_left)
			strbuf_add_repeat(out, " ", pad);
		/* cut only text: a number that is cut would be a wrong number */
		if (is_last && is_left && options->max_width > 0 &&
		    used < (size_t)options->max_width)
			length = text_cut_to_width(text, length,
						   (size_t)options->max_width - used);
		strbuf_add(out, text, length);
		if (is_left && !is_last)
			strbuf_add_repeat(out, " ", pad);
		used += cells->widths[c] + 1;
	}
	strbuf_add_char(out, '\n');
}

void table_add(struct strbuf *out, const struct column_list *columns,
	       const void *const *rows, size_t row_count,
	       const struct table_options *options)
{
	struct cells cells = { .text = STRBUF_INIT };

	cells.ends = xcalloc((row_count + 1) * columns->count, sizeof(*cells.ends));
	cells.widths = xcalloc(columns->count, sizeof(*cells.widths));
	format_cells(&cells, columns, rows, row_count, options);
	for (size_t r = options->no_headings ? 1 : 0; r <= row_count; r++)
		add_line(out, &cells, columns, r * columns->count, options);
	strbuf_release(&cells.text);
	free(cells.ends);
	free(cells.widths);
}
