/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "ui/view.h"

static const struct section {
	const char *title;
	unsigned int contexts;
} sections[] = {
	{ "everywhere", IN_VIEWS },
	{ "processes and mappings", IN_LISTS },
	{ "processes", IN_PROCESSES },
	{ "one process", IN_PROCESS },
	{ "mappings", IN_MAPPINGS },
};

static const char *const legend[] = {
	"What the words mean:",
	"  private_dirty D  written, and only this process's: only swap can take it back",
	"  lazyfree      L  freed with MADV_FREE: the kernel takes it back when it needs to",
	"  private_clean C  only this process's, not written: can be dropped and read again",
	"  shared_dirty  d  mapped by several processes, written",
	"  shared_clean  c  mapped by several processes, not written",
	"  unbacked         mapped and accessible, but without pages: costs nothing",
	"  -                not known;   .  none",
	"",
};

#define LEGEND_COUNT (sizeof(legend) / sizeof(legend[0]))

static unsigned int places_of(const struct key_row *row)
{
	return row->contexts & IN_VIEWS;
}

/* Lines are counted and drawn by the same walk; pen NULL counts. */
struct help {
	struct canvas *canvas;
	struct area area;
	size_t top;
	size_t line;
};

static struct pen begin_line(struct help *h)
{
	size_t line = h->line++;
	bool is_seen = h->canvas && line >= h->top && line - h->top < (size_t)h->area.height;

	if (!is_seen)
		return (struct pen){ .canvas = NULL, .end = 0 };
	return canvas_pen(h->canvas, h->area.x + 1, h->area.y + (int)(line - h->top),
			  h->area.width - 1);
}

static void add_key_row(struct help *h, const struct key_row *row)
{
	struct pen pen = begin_line(h);
	char name[KEY_NAME_SIZE];

	if (!pen.canvas)
		return;
	pen_add(&pen, "  ");
	pen.role = ROLE_STRONG;
	for (size_t i = 0; i < KEYS_PER_ROW && row->keys[i] != KEY_NONE; i++)
		pen_addf(&pen, "%s%s", i > 0 ? " " : "", keymap_format_key(row->keys[i], name));
	pen.role = ROLE_TEXT;
	pen_move_to(&pen, h->area.x + 17);
	pen_add(&pen, row->help);
}

static void add_title(struct help *h, const char *title)
{
	struct pen pen = begin_line(h);

	if (!pen.canvas)
		return;
	pen.role = ROLE_STRONG;
	pen_add(&pen, title);
}

static void walk(struct help *h)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		add_title(h, sections[i].title);
		for (size_t r = 0; r < key_row_count; r++)
			if (places_of(&key_rows[r]) == sections[i].contexts)
				add_key_row(h, &key_rows[r]);
		add_title(h, "");
	}
	for (size_t i = 0; i < LEGEND_COUNT; i++) {
		struct pen pen = begin_line(h);

		if (pen.canvas)
			pen_add(&pen, legend[i]);
	}
}

size_t help_line_count(void)
{
	struct help h = { .canvas = NULL };

	walk(&h);
	return h.line;
}

void help_draw(struct list *list, struct canvas *c, const struct area *area)
{
	struct help h = { .canvas = c, .area = *area };

	list->cursor = list->top;
	list_fit(list, help_line_count(), area->height);
	h.top = list->top;
	walk(&h);
}
