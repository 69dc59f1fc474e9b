/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/screen/list.h"

#include <stdint.h>

static size_t step_of(const struct list *l, enum action action)
{
	switch ((int)action) {
	case ACTION_UP:
	case ACTION_DOWN: return 1;
	case ACTION_HALF_UP:
	case ACTION_HALF_DOWN: return l->page > 1 ? l->page / 2 : 1;
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN: return l->page > 1 ? l->page - 1 : 1;
	default: return SIZE_MAX;
	}
}

bool list_move(struct list *l, size_t count, enum action action)
{
	size_t last = count > 0 ? count - 1 : 0;
	size_t step = step_of(l, action);

	switch ((int)action) {
	case ACTION_UP:
	case ACTION_HALF_UP:
	case ACTION_PAGE_UP:
	case ACTION_FIRST:
		l->cursor = l->cursor > step ? l->cursor - step : 0;
		return true;
	case ACTION_DOWN:
	case ACTION_HALF_DOWN:
	case ACTION_PAGE_DOWN:
	case ACTION_LAST:
		l->cursor = l->cursor < last && step < last - l->cursor ? l->cursor + step
									: last;
		return true;
	default: return false;
	}
}

bool list_scroll(struct list *l, size_t count, enum action action)
{
	size_t tops = count > l->page ? count - l->page + 1 : 1;

	l->cursor = l->top;
	if (!list_move(l, tops, action))
		return false;
	l->top = l->cursor;
	return true;
}

void list_fit(struct list *l, size_t count, int page)
{
	l->page = page > 0 ? (size_t)page : 0;
	if (l->cursor >= count)
		l->cursor = count > 0 ? count - 1 : 0;
	if (l->cursor < l->top)
		l->top = l->cursor;
	if (l->page > 0 && l->cursor >= l->top + l->page)
		l->top = l->cursor - l->page + 1;
	if (l->top + l->page > count)
		l->top = count > l->page ? count - l->page : 0;
}
