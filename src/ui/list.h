/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list - a cursor in lines of which a page is shown.
 */
#ifndef MS_UI_LIST_H
#define MS_UI_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/keymap.h"

struct list {
	size_t cursor;
	size_t top;  /* first line shown */
	size_t page; /* how many are shown, from the last drawing */
};

/* Move the cursor; true if the action was one for that. */
bool list_move(struct list *l, size_t count, enum action action);

/* The same, but it is the page that moves, and the cursor is its first line. */
bool list_scroll(struct list *l, size_t count, enum action action);

/* Before drawing: the cursor on a line that is there, and the page where it can be seen. */
void list_fit(struct list *l, size_t count, int page);

#endif
