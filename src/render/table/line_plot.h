/* SPDX-License-Identifier: GPL-2.0-or-later */
/* line_plot - draw lines in a rectangle of characters, as braille dots or ASCII. */
#ifndef MS_RENDER_TABLE_LINE_PLOT_H
#define MS_RENDER_TABLE_LINE_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

struct line_plot {
	size_t width, height; /* size of the plot in characters */
	bool ascii;
	/* upper ends of the axes, which must be > 0; both axes start at 0 */
	uint64_t x_top, y_top;
	unsigned char *cells; /* dots of each character cell, row by row from the top */
};

void line_plot_init(struct line_plot *p);
void line_plot_release(struct line_plot *p);

/*
 * Allocate or clear the cells of a plot for its current width and height. The caller sets
 * all other fields before the call.
 */
void line_plot_clear(struct line_plot *p);

/*
 * Draw a line between two points. A point beyond the end of an axis is moved to the end.
 */
struct plot_point {
	uint64_t x, y;
};
void line_plot_add(struct line_plot *p, struct plot_point from, struct plot_point to);

/* Append one row of the plot, without trailing spaces. Row 0 is at the top. */
void line_plot_add_row(const struct line_plot *p, size_t row, struct strbuf *out);

#endif
