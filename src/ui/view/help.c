/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/view/help.h"

#include <string.h>

#include "ui/screen/lines.h"

static const char *const legend[] = {
	"Terms:",
	"  private_dirty D  written, and only in this process: can only be swapped out",
	"  lazyfree      L  freed with MADV_FREE: the kernel reclaims it when it needs "
	"to",
	"  private_clean C  only in this process, not written: can be dropped and read "
	"again",
	"  shared_dirty  d  mapped by several processes, written",
	"  shared_clean  c  mapped by several processes, not written",
	"  unbacked         mapped and accessible, but without pages: costs nothing",
	"  -                unknown;     .  none",
	"",
};

#define LEGEND_COUNT (sizeof(legend) / sizeof(legend[0]))

static void add_key_row(struct lines *l, const struct key_row *row, enum theme theme)
{
	struct pen pen = lines_next(l);
	char name[KEY_NAME_SIZE];

	pen_add(&pen, "  ");
	pen.role = ROLE_STRONG;
	for (size_t i = 0; i < KEYS_PER_ROW && row->keys[i] != KEY_NONE; i++)
		pen_addf(&pen, "%s%s", i > 0 ? " " : "",
			 keymap_format_key(row->keys[i], name));
	pen.role = ROLE_TEXT;
	pen_move_to(&pen, l->area.x + 17);
	pen_add(&pen, row->help);
	if (row->action == ACTION_THEME)
		pen_addf(&pen, " (now %s)", theme_names[theme]);
}

static void add_title(struct lines *l, const char *title)
{
	struct pen pen = lines_next(l);

	pen.role = ROLE_STRONG;
	pen_add(&pen, title);
}

/* Draw the help screen. List keys for recordings only during replay. */
static void walk(struct lines *l, bool is_replayed, enum theme theme)
{
	for (size_t i = 0; i < key_section_count; i++) {
		unsigned int contexts = key_sections[i].contexts;

		if (!(contexts & IN_VIEWS) || (contexts & WHEN_REPLAYED && !is_replayed))
			continue;
		add_title(l, key_sections[i].title);
		for (size_t r = 0; r < key_row_count; r++)
			if (key_row_is_of(&key_rows[r], &key_sections[i]))
				add_key_row(l, &key_rows[r], theme);
		add_title(l, "");
	}
	for (size_t i = 0; i < LEGEND_COUNT; i++) {
		struct pen pen = lines_next(l);

		pen_add(&pen, legend[i]);
	}
}

size_t help_line_count(bool is_replayed)
{
	struct lines l = { .canvas = NULL };

	walk(&l, is_replayed, THEME_AUTO);
	return l.count;
}

void help_draw(struct list *list, bool is_replayed, enum theme theme, struct canvas *c,
	       const struct area *area)
{
	struct lines l = { .canvas = c, .area = *area };

	list->cursor = list->top;
	list_fit(list, help_line_count(is_replayed), area->height);
	l.top = list->top;
	walk(&l, is_replayed, theme);
}
