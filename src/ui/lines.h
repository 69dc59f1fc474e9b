/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines - a text of lines of which a page is shown. It is written in full each time, from
 * its first line, and what is not on the page goes nowhere: so lines are counted by what
 * draws them.
 */
#ifndef MS_UI_LINES_H
#define MS_UI_LINES_H

#include <stddef.h>

#include "ui/canvas.h"
#include "ui/list.h"

struct lines {
	struct canvas *canvas; /* NULL: only count */
	struct area area;
	size_t top;   /* the first line of the page */
	size_t count; /* begun so far */
};

/*
 * The next line, one column from the left edge. Where it is not on the page, its canvas
 * is NULL, and what is drawn with it goes nowhere.
 */
struct pen lines_next(struct lines *l);

#endif
