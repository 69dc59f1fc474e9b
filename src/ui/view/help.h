/* SPDX-License-Identifier: GPL-2.0-or-later */
/* help - the view that explains the keys. */
#ifndef MS_UI_VIEW_HELP_H
#define MS_UI_VIEW_HELP_H

#include "model/settings.h"
#include "ui/screen/canvas.h"
#include "ui/screen/list.h"

/*
 * Draw the keys that work in each context, and the name of the current theme. `list` is
 * the scroll position.
 */
void help_draw(struct list *list, bool is_replayed, enum theme theme, struct canvas *c,
	       const struct area *area);
size_t help_line_count(bool is_replayed);

#endif
