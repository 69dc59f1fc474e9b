/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * axis - where the axes of graphs end.
 */
#ifndef MS_RENDER_AXIS_H
#define MS_RENDER_AXIS_H

#include <stdint.h>

/* Where an axis for amounts up to max_bytes ends: the next round number, never 0. */
uint64_t axis_top_bytes(uint64_t max_bytes);

#endif
