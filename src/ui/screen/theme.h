/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * theme - the appearance of each role in each theme, with 256 or 8 colours. Colour
 * is never the only carrier of information: a letter or a mark always conveys the
 * same information.
 */
#ifndef MS_UI_SCREEN_THEME_H
#define MS_UI_SCREEN_THEME_H

#include "model/settings.h"
#include "ui/screen/canvas.h"

/* The appearance of a theme on a terminal with a certain number of colours. */
enum look {
	LOOK_MONO,
	LOOK_DARK_8,
	LOOK_DARK_256,
	LOOK_LIGHT_8,
	LOOK_LIGHT_256,
	LOOK_COUNT_,
};

enum style_flag {
	STYLE_BOLD = 1 << 0,
	STYLE_DIM = 1 << 1,
	STYLE_REVERSE = 1 << 2,
	STYLE_UNDERLINE = 1 << 3,
};

struct style {
	int16_t foreground; /* number of the colour; -1: terminal default */
	int16_t background;
	unsigned int flags;
};

/*
 * Return the theme that suits the terminal, but never THEME_AUTO. no_color and colorfgbg
 * are the values of the environment variables NO_COLOR and COLORFGBG, or NULL. Many
 * terminals set COLORFGBG to the numbers of their default colours, such as "0;15" for
 * black on white.
 */
enum theme theme_detect(const char *no_color, const char *colorfgbg);

/*
 * Return the theme that follows the given theme when the user changes themes with a key.
 */
enum theme theme_next(enum theme theme);

/* Return the look of a theme on a terminal with the given number of colours. */
enum look theme_look(enum theme theme, int color_count);

const struct style *theme_style(enum look look, enum role role);

#endif
