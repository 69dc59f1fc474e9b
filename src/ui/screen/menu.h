/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * menu - a box that lists the columns of a grid. The user chooses the sort column or the
 * visible columns.
 */
#ifndef MS_UI_SCREEN_MENU_H
#define MS_UI_SCREEN_MENU_H

#include "ui/screen/grid.h"

enum menu_kind {
	MENU_NONE,
	MENU_SORT,
	MENU_COLUMNS
};

struct menu {
	enum menu_kind kind;
	struct grid *grid; /* grid with the listed columns; borrowed */
	struct list list;
	struct area area; /* area of the menu when last drawn */
};

void menu_open(struct menu *menu, enum menu_kind kind, struct grid *grid);

/*
 * Perform an action in the menu. Return true if the columns or the sort order of the
 * grid changed.
 */
bool menu_act(struct menu *menu, enum action action);

/*
 * Move the cursor of the menu to the entry at (x, y). Return false if there is no entry.
 */
bool menu_point(struct menu *menu, int x, int y);

void menu_draw(struct menu *menu, struct canvas *c, const struct area *area);

#endif
