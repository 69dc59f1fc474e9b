/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bar - parts of a whole as the segments of a bar.
 */
#ifndef MS_RENDER_BAR_H
#define MS_RENDER_BAR_H

#include <stddef.h>
#include <stdint.h>

/*
 * Share `width` cells among the parts, so that they add up to width when the parts add up
 * to whole (largest remainders first). A part that is not 0 keeps at least one cell while
 * there are enough. Unknown parts count as 0. No cells if the whole is 0 or unknown.
 */
void bar_split(const uint64_t *parts, size_t count, uint64_t whole, size_t width, size_t *ret_cells);

#endif
