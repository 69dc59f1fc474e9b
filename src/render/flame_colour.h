/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flame_colour - the colours of a flame graph's boxes: the same in a picture and on a page,
 * light or dark. Black text can be read on all of them.
 */
#ifndef MS_RENDER_FLAME_COLOUR_H
#define MS_RENDER_FLAME_COLOUR_H

#include "render/flame_tree.h"

struct flame_colour {
	uint8_t red, green, blue;
};

/* Between these two, by the name: one name has one colour. */
extern const struct flame_colour flame_kind_colours[FLAME_KIND_COUNT_][2];

/* Of a difference: nothing changed; all of it is new; all of it is gone. */
enum flame_change { FLAME_SAME, FLAME_MORE, FLAME_LESS, FLAME_CHANGE_COUNT_ };
extern const struct flame_colour flame_change_colours[FLAME_CHANGE_COUNT_];

struct flame_colour flame_colour_of_name(enum flame_kind kind, const char *name);

/* By how much of the larger one the change is. */
struct flame_colour flame_colour_of_change(uint64_t before, uint64_t after);

#endif
