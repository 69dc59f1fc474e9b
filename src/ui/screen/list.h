/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list - the position of a cursor in a list of lines, and the page of the list that is on
 * the screen.
 */
#ifndef MS_UI_SCREEN_LIST_H
#define MS_UI_SCREEN_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/screen/keymap.h"

struct list {
	size_t cursor;
	size_t top;  /* index of the first line on the page */
	size_t page; /* number of lines on the page when last drawn */
};

/* Move the cursor of a list. Return false if the action does not move it. */
bool list_move(struct list *l, size_t count, enum action action);

/*
 * Scroll a list, and move the cursor to the first visible line. Return false if the
 * action does not scroll.
 */
bool list_scroll(struct list *l, size_t count, enum action action);

/*
 * Prepare a list for drawing: move the cursor to an existing line, and scroll the page to
 * the cursor.
 */
void list_fit(struct list *l, size_t count, int page);

#endif
