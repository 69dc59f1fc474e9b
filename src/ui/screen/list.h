/* SPDX-License-Identifier: GPL-2.0-or-later */
/* list - a cursor in a list of lines, of which the screen shows one page. */
#ifndef MS_UI_SCREEN_LIST_H
#define MS_UI_SCREEN_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/screen/keymap.h"

struct list {
	size_t cursor;
	size_t top;  /* index of the first line shown */
	size_t page; /* number of lines per page at the last drawing */
};

/* Move the cursor. Returns false if the action is not a movement. */
bool list_move(struct list *l, size_t count, enum action action);

/*
 * Scroll the page, and move the cursor to its first line. Returns
 * false if the action is not a movement.
 */
bool list_scroll(struct list *l, size_t count, enum action action);

/* Before drawing, move the cursor to an existing line, and the page to the cursor. */
void list_fit(struct list *l, size_t count, int page);

#endif
