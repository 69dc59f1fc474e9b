/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/screen/graph.h"

#include "base/units.h"

/*
 * A style of graph: the characters for the levels of the one or two samples in a cell.
 * Level 0 is blank. The index of a character is the level of a single sample, or left *
 * (levels + 1) + right for the levels of two samples.
 */
static const struct style {
	unsigned int samples; /* number of samples in a cell */
	unsigned int levels;
	const uint32_t *glyphs;
} styles[GRAPH_STYLE_COUNT_] = {
	[GRAPH_BRAILLE] = { 2, 4,
			    (const uint32_t[]){
				    ' ',    0x2880, 0x28a0, 0x28b0, 0x28b8,
				    0x2840, 0x28c0, 0x28e0, 0x28f0, 0x28f8,
				    0x2844, 0x28c4, 0x28e4, 0x28f4, 0x28fc,
				    0x2846, 0x28c6, 0x28e6, 0x28f6, 0x28fe,
				    0x2847, 0x28c7, 0x28e7, 0x28f7, 0x28ff,
			    } },
	[GRAPH_BLOCK] = { 1, 8,
			  (const uint32_t[]){
				  ' ',
				  0x2581,
				  0x2582,
				  0x2583,
				  0x2584,
				  0x2585,
				  0x2586,
				  0x2587,
				  0x2588,
			  } },
	[GRAPH_ASCII] = { 1, 2, (const uint32_t[]){ ' ', '.', '#' } },
};

size_t graph_sample_count(enum graph_style style, int width)
{
	return width > 0 ? (size_t)width * styles[style].samples : 0;
}

/* Return the height of a sample in levels, counted from the bottom of the graph. */
static uint64_t height_of(const struct graph *g, uint64_t sample, uint64_t top)
{
	uint64_t height;

	if (!bytes_known(sample) || sample == 0 || g->axis_bytes == 0)
		return 0;
	if (sample >= g->axis_bytes)
		return top;
	height = (uint64_t)(((unsigned __int128)sample * top + g->axis_bytes / 2) /
			    g->axis_bytes);
	return height > 0 ? height : 1;
}

/* Return how many levels of a sample lie in the given row of cells. */
static unsigned int level_in_row(uint64_t height, uint64_t row, unsigned int levels)
{
	if (height <= row * levels)
		return 0;
	return height - row * levels >= levels ? levels
					       : (unsigned int)(height - row * levels);
}

static uint64_t sample_at(const struct graph *g, int64_t index)
{
	return index >= 0 && index < (int64_t)g->count ? g->samples[index]
						       : BYTES_UNKNOWN;
}

void graph_draw(const struct graph *g, struct canvas *c, const struct area *area)
{
	const struct style *style = &styles[g->style];
	uint64_t top = (uint64_t)area->height * style->levels;
	int64_t first =
		(int64_t)g->count - (int64_t)graph_sample_count(g->style, area->width);

	for (int x = 0; x < area->width; x++) {
		int64_t index = first + (int64_t)x * style->samples;
		uint64_t left = height_of(g, sample_at(g, index), top);
		uint64_t right = height_of(g, sample_at(g, index + 1), top);

		for (int y = 0; y < area->height; y++) {
			uint64_t row = (uint64_t)(area->height - 1 - y);
			unsigned int glyph = level_in_row(left, row, style->levels);

			if (style->samples == 2)
				glyph = glyph * (style->levels + 1) +
					level_in_row(right, row, style->levels);
			canvas_put(c, area->x + x, area->y + y, ROLE_GRAPH,
				   style->glyphs[glyph]);
		}
	}
}

void graph_draw_axis(const struct graph *g, struct canvas *c, const struct area *area)
{
	char text[UNITS_TEXT_SIZE];

	for (int y = 0; y < area->height; y++) {
		struct pen pen = canvas_pen(c, area->x - 8, area->y + y, 8);

		pen.role = ROLE_DIM;
		pen_add_right(&pen, 7,
			      y == 0 ? units_format_bytes(g->axis_bytes, text)
			      : y == area->height - 1 ? "0"
						      : "");
		pen_add(&pen, c->ascii ? "|" : "│");
	}
}
