/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/table/line_plot.h"

#include <stdlib.h>

#include "base/xalloc.h"

/* Number of dots in a character cell, horizontally and vertically. */
#define DOTS_ACROSS(p) ((p)->ascii ? 1U : 2U)
#define DOTS_DOWN(p) ((p)->ascii ? 2U : 4U)

/* the bit of each dot in a braille pattern (U+2800 to U+28FF), by row and column */
static const unsigned char braille_bits[4][2] = {
	{ 0x01, 0x08 },
	{ 0x02, 0x10 },
	{ 0x04, 0x20 },
	{ 0x40, 0x80 },
};

/*
 * ASCII characters that represent the two dots of a cell. Bit 0 of the index is the upper
 * dot, and bit 1 the lower dot.
 */
static const char ascii_glyphs[] = " '.:";

void line_plot_init(struct line_plot *p)
{
	*p = (struct line_plot){ 0 };
}

void line_plot_release(struct line_plot *p)
{
	free(p->cells);
	line_plot_init(p);
}

void line_plot_clear(struct line_plot *p)
{
	free(p->cells);
	p->cells = xcalloc(p->width * p->height + 1, 1);
}

/*
 * Return the index of the dot that represents an amount, from 0 to `count` - 1. The last
 * dot represents `top` and all larger amounts.
 */
static size_t dot_of(uint64_t amount, uint64_t top, size_t count)
{
	if (amount >= top)
		return count - 1;
	return (size_t)((unsigned __int128)amount * count / top);
}

static void set_dot(struct line_plot *p, size_t x, size_t y)
{
	size_t across = DOTS_ACROSS(p), down = DOTS_DOWN(p);
	size_t from_top = p->height * down - 1 - y;
	unsigned char *cell = &p->cells[from_top / down * p->width + x / across];

	*cell |= p->ascii ? (unsigned char)(1 << from_top % down)
			  : braille_bits[from_top % down][x % across];
}

/* Return the height of the line from (x0, y0) to (x1, y1) at x. */
static size_t height_at(size_t x, size_t x0, size_t x1, size_t y0, size_t y1)
{
	if (x1 == x0)
		return y1;
	if (y1 >= y0)
		return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
	return y0 - (y0 - y1) * (x - x0) / (x1 - x0);
}

void line_plot_add(struct line_plot *p, struct plot_point from, struct plot_point to)
{
	size_t across = p->width * DOTS_ACROSS(p), down = p->height * DOTS_DOWN(p);
	size_t x0 = dot_of(from.x, p->x_top, across), x1 = dot_of(to.x, p->x_top, across);
	size_t y0 = dot_of(from.y, p->y_top, down), y1 = dot_of(to.y, p->y_top, down);
	size_t last = y0;

	for (size_t x = x0; x <= x1; x++) {
		size_t y = height_at(x, x0, x1, y0, y1);
		size_t low = y < last ? y : last, high = y < last ? last : y;

		/*
		 * draw a vertical stroke that connects the column to the previous column
		 */
		for (size_t dot = low; dot <= high; dot++)
			set_dot(p, x, dot);
		last = y;
	}
}

static void add_cell(const struct line_plot *p, unsigned char dots, struct strbuf *out)
{
	if (p->ascii)
		strbuf_add_char(out, ascii_glyphs[dots]);
	else if (dots == 0)
		strbuf_add_char(out, ' ');
	else /* UTF-8 encoding of the character U+2800 + dots */
		strbuf_addf(out, "\xe2%c%c", 0xa0 | dots >> 6, 0x80 | (dots & 0x3f));
}

void line_plot_add_row(const struct line_plot *p, size_t row, struct strbuf *out)
{
	const unsigned char *cells = &p->cells[row * p->width];
	size_t width = p->width;

	while (width > 0 && cells[width - 1] == 0)
		width--;
	for (size_t x = 0; x < width; x++)
		add_cell(p, cells[x], out);
}
