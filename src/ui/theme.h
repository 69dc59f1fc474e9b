/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * theme - how roles look: with 256 colours, with 8, with none. Colour is never the only
 * sign: what it says is said by a letter or a mark too.
 */
#ifndef MS_UI_THEME_H
#define MS_UI_THEME_H

#include "ui/canvas.h"

enum palette {
	PALETTE_NONE,
	PALETTE_8,
	PALETTE_256,
	PALETTE_COUNT_,
};

enum style_flag {
	STYLE_BOLD = 1 << 0,
	STYLE_DIM = 1 << 1,
	STYLE_REVERSE = 1 << 2,
	STYLE_UNDERLINE = 1 << 3,
};

struct style {
	int16_t foreground; /* colour number, -1: the terminal's own */
	int16_t background;
	unsigned int flags;
};

/* What a terminal of so many colours gets; no_color is the environment's NO_COLOR, or NULL. */
enum palette theme_palette(int color_count, const char *no_color);

const struct style *theme_style(enum palette palette, enum role role);

#endif
