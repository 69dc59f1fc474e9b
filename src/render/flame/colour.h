/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * colour - the colours of the boxes in a flame graph. The SVG and the HTML page use the
 * same colours, in light and in dark mode. Black text is readable on all of them.
 */
#ifndef MS_RENDER_FLAME_COLOUR_H
#define MS_RENDER_FLAME_COLOUR_H

#include "render/flame/tree.h"

struct flame_colour {
	uint8_t red, green, blue;
};

/*
 * Both ends of the range of colours for each kind of frame. The name of a function
 * determines its colour within the range.
 */
extern const struct flame_colour flame_kind_colours[FLAME_KIND_COUNT_][2];

/*
 * Colours in a differential flame graph for amounts that are unchanged, entirely new, or
 * entirely gone.
 */
enum flame_change {
	FLAME_SAME,
	FLAME_MORE,
	FLAME_LESS,
	FLAME_CHANGE_COUNT_
};
extern const struct flame_colour flame_change_colours[FLAME_CHANGE_COUNT_];

/*
 * Return the colour for a function of the given kind. Functions with equal names always
 * have the same colour.
 */
struct flame_colour flame_colour_of_name(enum flame_kind kind, const char *name);

/*
 * Return the colour for a change of an amount. The larger the change is relative to the
 * larger of the two amounts, the stronger the colour.
 */
struct flame_colour flame_colour_of_change(uint64_t before, uint64_t after);

#endif
