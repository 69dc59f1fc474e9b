/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list - a cursor in a list of lines, of which one page is shown.
 */
#ifndef MS_UI_SCREEN_LIST_H
#define MS_UI_SCREEN_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/screen/keymap.h"

struct list {
	size_t cursor;
	size_t top;  /* index of the first line shown */
	size_t page; /* lines per page, from the last drawing */
};

/* Move the cursor. Returns false if the action is not a movement. */
bool list_move(struct list *l, size_t count, enum action action);

/* Like list_move(), but scroll the page, with the cursor on its first line. */
bool list_scroll(struct list *l, size_t count, enum action action);

/* Before drawing, move the cursor to an existing line and the page to the cursor. */
void list_fit(struct list *l, size_t count, int page);

#endif
