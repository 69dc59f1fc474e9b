/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * axis - choose the upper end of a graph's axis.
 */
#ifndef MS_RENDER_TABLE_AXIS_H
#define MS_RENDER_TABLE_AXIS_H

#include <stdint.h>

/*
 * Return the upper end of an axis that shows amounts up to max_bytes. The result is a
 * round number above 0.
 */
uint64_t axis_top_bytes(uint64_t max_bytes);

#endif
