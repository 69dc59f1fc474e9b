/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bar - divide a bar of cells into segments in proportion to the parts of a whole. */
#ifndef MS_RENDER_TABLE_BAR_H
#define MS_RENDER_TABLE_BAR_H

#include <stddef.h>
#include <stdint.h>

/*
 * Distribute `width` cells among the parts with the largest remainder method, and store
 * the cells of each part in ret_cells[count]. If the parts add up to `whole`, the cells
 * add up to `width`. Every part above 0 gets at least one cell as long as there are
 * enough. Unknown parts count as 0. If `whole` is 0 or unknown, all cells are 0.
 */
void bar_split(const uint64_t *parts, size_t count, uint64_t whole, size_t width,
	       size_t *ret_cells);

#endif
