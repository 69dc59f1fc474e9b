/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * line_plot - lines in a rectangle of characters: braille dots, or ASCII.
 */
#ifndef MS_RENDER_LINE_PLOT_H
#define MS_RENDER_LINE_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

struct line_plot {
	size_t width, height; /* characters */
	bool ascii;
	uint64_t x_top, y_top; /* both axes begin at 0; > 0 */
	unsigned char *cells;  /* dots of each character, row by row from the top */
};

void line_plot_init(struct line_plot *p);
void line_plot_release(struct line_plot *p);

/* Begin anew with the size and axes that are set. */
void line_plot_clear(struct line_plot *p);

/* A line from one point to another; what is outside the axes is at their ends. */
struct plot_point {
	uint64_t x, y;
};
void line_plot_add(struct line_plot *p, struct plot_point from, struct plot_point to);

/* Append the characters of a row, 0 the topmost, without the blanks at its end. */
void line_plot_add_row(const struct line_plot *p, size_t row, struct strbuf *out);

#endif
