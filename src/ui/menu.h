/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * menu - a box with the columns of a grid: one to sort by, or several to show.
 */
#ifndef MS_UI_MENU_H
#define MS_UI_MENU_H

#include "ui/grid.h"

enum menu_kind { MENU_NONE, MENU_SORT, MENU_COLUMNS };

struct menu {
	enum menu_kind kind;
	struct grid *grid; /* of what is chosen from */
	struct list list;
	struct area area; /* of the last drawing */
};

void menu_open(struct menu *menu, enum menu_kind kind, struct grid *grid);

/* Returns true if what the grid shows or sorts by has changed. */
bool menu_act(struct menu *menu, enum action action);

/* Put the cursor on what is at x, y; false if nothing is. */
bool menu_point(struct menu *menu, int x, int y);

void menu_draw(struct menu *menu, struct canvas *c, const struct area *area);

#endif
