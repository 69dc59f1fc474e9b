/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph - draw amounts over time as a filled curve. The baseline is 0, and the newest
 * sample is at the right edge.
 */
#ifndef MS_UI_SCREEN_GRAPH_H
#define MS_UI_SCREEN_GRAPH_H

#include "ui/screen/canvas.h"

enum graph_style {
	GRAPH_BRAILLE, /* braille patterns: two samples per cell, four levels */
	GRAPH_BLOCK,   /* block characters: one sample per cell, eight levels */
	GRAPH_ASCII,   /* ASCII: one sample per cell, two levels */
	GRAPH_STYLE_COUNT_,
};

/* Return the number of samples that a graph can show in `width` columns. */
size_t graph_sample_count(enum graph_style style, int width);

/*
 * Samples to draw, in chronological order. If there are too many, the oldest samples are
 * left out. A sample of BYTES_UNKNOWN leaves a gap. An amount above 0 is drawn at least
 * one level high.
 */
struct graph {
	const uint64_t *samples;
	size_t count;
	uint64_t axis_bytes; /* amount at the top, from axis_top_bytes() */
	enum graph_style style;
};

/*
 * Draw the vertical axis in the eight columns to the left of the graph: seven columns for
 * the amounts, and one column for the line.
 */
void graph_draw_axis(const struct graph *g, struct canvas *c, const struct area *area);

void graph_draw(const struct graph *g, struct canvas *c, const struct area *area);

#endif
