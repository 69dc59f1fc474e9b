/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * colour - the colours of the boxes in a flame graph. The SVG and the HTML page use
 * the same colours, in light and in dark mode; black text is readable on all of them.
 */
#ifndef MS_RENDER_FLAME_COLOUR_H
#define MS_RENDER_FLAME_COLOUR_H

#include "render/flame/tree.h"

struct flame_colour {
	uint8_t red, green, blue;
};

/*
 * The two ends of the colour range of each kind. The name of a function
 * selects a fixed colour between them.
 */
extern const struct flame_colour flame_kind_colours[FLAME_KIND_COUNT_][2];

/* Colours of a differential flame graph: unchanged, all of it new, all of it gone. */
enum flame_change {
	FLAME_SAME,
	FLAME_MORE,
	FLAME_LESS,
	FLAME_CHANGE_COUNT_
};
extern const struct flame_colour flame_change_colours[FLAME_CHANGE_COUNT_];

/* Return the colour for a function of a kind; equal names have equal colours. */
struct flame_colour flame_colour_of_name(enum flame_kind kind, const char *name);

/*
 * Return the colour for a change, mixed according to the ratio of
 * the change to the larger amount.
 */
struct flame_colour flame_colour_of_change(uint64_t before, uint64_t after);

#endif
