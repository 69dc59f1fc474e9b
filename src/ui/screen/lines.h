/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines - show one page of a longer text. The text is always drawn from its first line
 * on, and lines outside the page are discarded. Drawing also counts the lines.
 */
#ifndef MS_UI_SCREEN_LINES_H
#define MS_UI_SCREEN_LINES_H

#include <stddef.h>

#include "ui/screen/canvas.h"
#include "ui/screen/list.h"

struct lines {
	struct canvas *canvas; /* canvas to draw on; NULL: only count the lines */
	struct area area;
	size_t top;   /* index of the first line on the page */
	size_t count; /* number of lines begun so far */
};

/*
 * Begin the next line of the text, one column from the left edge. If the line is outside
 * the page, the canvas of the returned pen is NULL, and the pen draws nothing.
 */
struct pen lines_next(struct lines *l);

#endif
