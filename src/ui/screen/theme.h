/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * theme - how each role looks with 256 colours, 8 colours or none. Information is never
 * shown by colour alone: a letter or a mark always shows it too.
 */
#ifndef MS_UI_SCREEN_THEME_H
#define MS_UI_SCREEN_THEME_H

#include "ui/screen/canvas.h"

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
	int16_t foreground; /* colour number; -1: the terminal's default */
	int16_t background;
	unsigned int flags;
};

/*
 * Return the palette for a terminal with this many colours. no_color is the value of the
 * environment variable NO_COLOR, or NULL.
 */
enum palette theme_palette(int color_count, const char *no_color);

const struct style *theme_style(enum palette palette, enum role role);

#endif
