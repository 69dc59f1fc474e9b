/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph - amounts over time as a filled curve from 0 up, the newest at the right.
 */
#ifndef MS_UI_GRAPH_H
#define MS_UI_GRAPH_H

#include "ui/canvas.h"

enum graph_style {
	GRAPH_BRAILLE, /* two samples per cell, four levels */
	GRAPH_BLOCK,   /* one sample per cell, eight levels */
	GRAPH_ASCII,   /* one sample per cell, two levels */
	GRAPH_STYLE_COUNT_,
};

/* How many samples a width shows. */
size_t graph_sample_count(enum graph_style style, int width);

/*
 * The last samples that fit, oldest first, BYTES_UNKNOWN where one is missing: a gap. A known
 * amount above 0 is at least one level high.
 */
struct graph {
	const uint64_t *samples;
	size_t count;
	uint64_t axis_bytes; /* the top of the area: see axis_top_bytes() */
	enum graph_style style;
};

/* Its axis: amounts in the seven columns left of the area, and a line. */
void graph_draw_axis(const struct graph *g, struct canvas *c, const struct area *area);

void graph_draw(const struct graph *g, struct canvas *c, const struct area *area);

#endif
