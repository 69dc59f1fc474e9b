/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bar - draw bars that show the parts of a whole as segments of proportional length. */
#ifndef MS_RENDER_TABLE_BAR_H
#define MS_RENDER_TABLE_BAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* One part of a bar. */
struct bar_part {
	uint64_t bytes; /* may be unknown */
	/* letter of the part in the bar and its legend; '.' for free space */
	char letter;
	const char *colour; /* argument of the SGR escape sequence; NULL: no colour */
};

/*
 * Distribute `width` cells among the parts with the largest remainder method, and
 * store the number of cells of each part in ret_cells[count]. If the parts add up to
 * `whole`, the cells add up to `width`. Every part above 0 has at least one cell if
 * there are enough cells. Unknown parts count as 0. If `whole` is 0 or unknown, all
 * parts have 0 cells.
 */
void bar_split(const uint64_t *parts, size_t count, uint64_t whole, size_t width,
	       size_t *ret_cells);

/*
 * Append a bar of `width` cells between brackets. In ASCII, each cell contains the
 * letter of its part. Otherwise, only the first cell of a part contains the letter, and
 * its other cells are solid. Dark and light parts alternate, so they are distinct
 * without colour.
 */
void bar_add(struct strbuf *out, const struct bar_part *parts, size_t count,
	     uint64_t whole, size_t width, bool ascii, bool colour);

/* Append the letter of a part as it appears in the bar. */
void bar_add_letter(struct strbuf *out, const struct bar_part *part, bool colour);

#endif
