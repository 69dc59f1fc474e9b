/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/screen/canvas.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "render/table/output.h"

void canvas_init(struct canvas *c)
{
	*c = (struct canvas){ 0 };
}

void canvas_release(struct canvas *c)
{
	free(c->cells);
	canvas_init(c);
}

void canvas_begin(struct canvas *c, int width, int height, bool ascii)
{
	c->width = width > 0 ? width : 1;
	c->height = height > 0 ? height : 1;
	c->ascii = ascii;
	c->cells = xgrow(c->cells, &c->capacity, (size_t)c->width * (size_t)c->height,
			 sizeof(*c->cells));
	canvas_fill(c, &(struct area){ 0, 0, c->width, c->height }, ROLE_TEXT, ' ');
}

static struct cell *cell_at(struct canvas *c, int x, int y)
{
	if (x < 0 || y < 0 || x >= c->width || y >= c->height)
		return NULL;
	return &c->cells[(size_t)y * (size_t)c->width + (size_t)x];
}

void canvas_put(struct canvas *c, int x, int y, enum role role, uint32_t code_point)
{
	struct cell *cell = cell_at(c, x, y);

	if (cell)
		*cell = (struct cell){ code_point, (uint8_t)role, 1, CELL_PLAIN, 0 };
}

void canvas_put_reversed(struct canvas *c, int x, int y, enum role role,
			 uint32_t code_point)
{
	struct cell *cell = cell_at(c, x, y);

	if (cell)
		*cell = (struct cell){ code_point, (uint8_t)role, 1, CELL_REVERSED, 0 };
}

void canvas_set_back(struct canvas *c, int x, int y, enum role role)
{
	struct cell *cell = cell_at(c, x, y);

	if (cell && cell->back != CELL_REVERSED)
		cell->back = (uint8_t)(role + 1);
}

void canvas_fill(struct canvas *c, const struct area *area, enum role role,
		 uint32_t code_point)
{
	for (int y = area->y; y < area->y + area->height; y++)
		for (int x = area->x; x < area->x + area->width; x++)
			canvas_put(c, x, y, role, code_point);
}

static const struct frame {
	uint32_t across, down, top_left, top_right, bottom_left, bottom_right;
} frames[] = {
	{ 0x2500, 0x2502, 0x250c, 0x2510, 0x2514, 0x2518 },
	{ '-', '|', '+', '+', '+', '+' },
};

void canvas_box(struct canvas *c, const struct area *a, const char *title)
{
	const struct frame *f = &frames[c->ascii];
	int right = a->x + a->width - 1;
	int bottom = a->y + a->height - 1;
	struct pen pen = canvas_pen(c, a->x + 2, a->y, a->width - 4);

	canvas_fill(c, a, ROLE_TEXT, ' ');
	for (int x = a->x; x <= right; x++) {
		canvas_put(c, x, a->y, ROLE_TEXT, f->across);
		canvas_put(c, x, bottom, ROLE_TEXT, f->across);
	}
	for (int y = a->y; y <= bottom; y++) {
		canvas_put(c, a->x, y, ROLE_TEXT, f->down);
		canvas_put(c, right, y, ROLE_TEXT, f->down);
	}
	canvas_put(c, a->x, a->y, ROLE_TEXT, f->top_left);
	canvas_put(c, right, a->y, ROLE_TEXT, f->top_right);
	canvas_put(c, a->x, bottom, ROLE_TEXT, f->bottom_left);
	canvas_put(c, right, bottom, ROLE_TEXT, f->bottom_right);
	pen.role = ROLE_STRONG;
	pen_addf(&pen, " %s ", title);
}

void canvas_add_character(struct strbuf *out, uint32_t c)
{
	char bytes[4];
	size_t length = 0;

	if (c < 0x80) {
		bytes[length++] = (char)c;
	} else if (c < 0x800) {
		bytes[length++] = (char)(0xc0 | c >> 6);
	} else if (c < 0x10000) {
		bytes[length++] = (char)(0xe0 | c >> 12);
		bytes[length++] = (char)(0x80 | (c >> 6 & 0x3f));
	} else {
		bytes[length++] = (char)(0xf0 | c >> 18);
		bytes[length++] = (char)(0x80 | (c >> 12 & 0x3f));
		bytes[length++] = (char)(0x80 | (c >> 6 & 0x3f));
	}
	if (c >= 0x80)
		bytes[length++] = (char)(0x80 | (c & 0x3f));
	strbuf_add(out, bytes, length);
}

void canvas_add_text(const struct canvas *c, struct strbuf *out)
{
	for (int y = 0; y < c->height; y++) {
		const struct cell *line = &c->cells[(size_t)y * (size_t)c->width];
		int end = c->width;

		while (end > 0 && line[end - 1].code_point == ' ')
			end--;
		for (int x = 0; x < end; x++)
			if (line[x].width > 0)
				canvas_add_character(out, line[x].code_point);
		strbuf_add_char(out, '\n');
	}
}

struct pen canvas_pen(struct canvas *c, int x, int y, int width)
{
	int end = x + width;

	return (struct pen){ c, x, y, end < c->width ? end : c->width, ROLE_TEXT };
}

/*
 * Return the width of a character in columns. The width is at most 0 for control and
 * combining characters, which are not drawn.
 */
static int width_of(uint32_t code_point)
{
	if (code_point >= 0x20 && code_point < 0x7f)
		return 1;
	return text_is_control(code_point) ? 0 : wcwidth((wchar_t)code_point);
}

static void add_character(struct pen *pen, uint32_t code_point)
{
	int width = width_of(code_point);
	struct cell *cell;

	if (width <= 0)
		return;
	if (pen->x + width > pen->end) {
		pen_move_to(pen, pen->end);
		return;
	}
	canvas_put(pen->canvas, pen->x, pen->y, pen->role, code_point);
	if (width == 2) {
		cell = cell_at(pen->canvas, pen->x, pen->y);
		if (cell)
			cell->width = 2;
		canvas_put(pen->canvas, pen->x + 1, pen->y, pen->role, ' ');
		cell = cell_at(pen->canvas, pen->x + 1, pen->y);
		if (cell)
			cell->width = 0;
	}
	pen->x += width;
}

static void add_bytes(struct pen *pen, const char *text, size_t length)
{
	while (length > 0) {
		uint32_t code_point = '?';
		size_t size = text_utf8_next(text, length, &code_point);

		add_character(pen, code_point);
		size = size ? size : 1;
		text += size;
		length -= size;
	}
}

void pen_add(struct pen *pen, const char *text)
{
	add_bytes(pen, text, strlen(text));
}

void pen_addf(struct pen *pen, const char *format, ...)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	va_list args;

	va_start(args, format);
	strbuf_vaddf(&text, format, args);
	va_end(args);
	add_bytes(pen, strbuf_text(&text), text.length);
}

void pen_add_right(struct pen *pen, int width, const char *text)
{
	int used = (int)text_display_width(text, strlen(text));

	/*
	 * draw nothing instead of a part of the text, because a number without its last
	 * digits would look like another number
	 */
	if (pen->x + width > pen->end) {
		pen_move_to(pen, pen->end);
		return;
	}
	pen_move_to(pen, pen->x + width - used);
	pen_add(pen, text);
}

void pen_add_foreign(struct pen *pen, const char *text, size_t length)
{
	_cleanup_strbuf_ struct strbuf shown = STRBUF_INIT;
	size_t room = pen->end > pen->x ? (size_t)(pen->end - pen->x) : 0;

	if (room == 0)
		return;
	/*
	 * do not convert more text than can fit, because a command line may be very long
	 */
	text_add_printable(&shown, text, length < 4 * room + 4 ? length : 4 * room + 4,
			   pen->canvas->ascii);
	if (text_display_width(strbuf_text(&shown), shown.length) <= room) {
		add_bytes(pen, strbuf_text(&shown), shown.length);
		return;
	}
	add_bytes(pen, shown.text, text_cut_to_width(shown.text, shown.length, room - 1));
	pen_add(pen, pen->canvas->ascii ? ">" : "…");
}

void pen_add_foreign_end(struct pen *pen, const char *text, size_t length)
{
	_cleanup_strbuf_ struct strbuf shown = STRBUF_INIT;
	size_t room = pen->end > pen->x ? (size_t)(pen->end - pen->x) : 0;
	size_t skipped = 0;
	uint32_t code_point;

	text_add_printable(&shown, text, length, pen->canvas->ascii);
	if (text_display_width(strbuf_text(&shown), shown.length) > room) {
		pen_add(pen, pen->canvas->ascii ? "<" : "…");
		while (skipped < shown.length &&
		       text_display_width(shown.text + skipped, shown.length - skipped) >=
			       room)
			skipped += text_utf8_next(shown.text + skipped,
						  shown.length - skipped, &code_point);
	}
	add_bytes(pen, strbuf_text(&shown) + skipped, shown.length - skipped);
}

void pen_move_to(struct pen *pen, int x)
{
	while (pen->x < x && pen->x < pen->end)
		canvas_put(pen->canvas, pen->x++, pen->y, pen->role, ' ');
}
