/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/screen/menu.h"

#include <string.h>

/*
 * Return the column with the given index among the columns with a heading. Columns
 * without a heading appear only in CSV and JSON.
 */
static const struct column *column_at(const struct menu *menu, size_t index)
{
	const struct column_set *set = menu->grid->set;

	for (size_t i = 0; i < set->count; i++)
		if (set->columns[i].heading && index-- == 0)
			return &set->columns[i];
	return NULL;
}

static size_t count_columns(const struct menu *menu)
{
	const struct column_set *set = menu->grid->set;
	size_t count = 0;

	for (size_t i = 0; i < set->count; i++)
		count += set->columns[i].heading != NULL;
	return count;
}

void menu_open(struct menu *menu, enum menu_kind kind, struct grid *grid)
{
	size_t count;

	*menu = (struct menu){ .kind = kind, .grid = grid };
	count = count_columns(menu);
	for (size_t i = 0; i < count; i++)
		if (column_at(menu, i) == grid->sort.column)
			menu->list.cursor = i;
	if (kind == MENU_COLUMNS)
		menu->list.cursor = 0;
}

bool menu_act(struct menu *menu, enum action action)
{
	const struct column *column = column_at(menu, menu->list.cursor);

	if (list_move(&menu->list, count_columns(menu), action))
		return false;
	switch ((int)action) {
	case ACTION_ACCEPT:
		if (menu->kind == MENU_SORT)
			grid_sort_by(menu->grid, column);
		menu->kind = MENU_NONE;
		return true;
	case ACTION_TOGGLE: grid_toggle_column(menu->grid, column); return true;
	case ACTION_CANCEL: menu->kind = MENU_NONE; return false;
	default: return false;
	}
}

bool menu_point(struct menu *menu, int x, int y)
{
	const struct area *a = &menu->area;
	size_t at = menu->list.top + (size_t)(y - a->y - 1);

	if (x <= a->x || x >= a->x + a->width - 1 || y <= a->y ||
	    y >= a->y + a->height - 1 || at >= count_columns(menu))
		return false;
	menu->list.cursor = at;
	return true;
}

static void draw_entry(const struct menu *menu, struct canvas *c, size_t index, int y)
{
	const struct column *column = column_at(menu, index);
	struct pen pen = canvas_pen(c, menu->area.x + 1, y, menu->area.width - 2);
	bool is_on;

	if (!column)
		return;
	is_on = menu->kind == MENU_COLUMNS ? grid_has_column(menu->grid, column)
					   : column == menu->grid->sort.column;
	pen.role = index == menu->list.cursor ? ROLE_SELECTED : ROLE_TEXT;
	pen_add(&pen, index == menu->list.cursor ? ">" : " ");
	if (menu->kind == MENU_COLUMNS)
		pen_add(&pen, is_on ? "[x] " : "[ ] ");
	else
		pen_add(&pen, is_on ? "* " : "  ");
	pen_addf(&pen, "%-10s ", column->heading);
	pen_add_foreign(&pen, column->help, strlen(column->help));
	pen_move_to(&pen, pen.end);
}

void menu_draw(struct menu *menu, struct canvas *c, const struct area *area)
{
	size_t count = count_columns(menu);
	int width = area->width < 76 ? area->width : 76;
	int height = area->height < (int)count + 2 ? area->height : (int)count + 2;

	menu->area = (struct area){ area->x + (area->width - width) / 2, area->y, width,
				    height };
	list_fit(&menu->list, count, height - 2);
	canvas_box(c, &menu->area,
		   menu->kind == MENU_SORT ? "sort by" : "columns: Space shows or hides");
	for (size_t i = menu->list.top; i < count && i < menu->list.top + menu->list.page;
	     i++)
		draw_entry(menu, c, i, menu->area.y + 1 + (int)(i - menu->list.top));
}
