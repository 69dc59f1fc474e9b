/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "colored_text.h"

#include <string.h>

#include "ui/screen/theme.h"

struct named_look {
	const char *name;
	enum look look;
};

static const struct named_look looks[] = {
	{ "dark", LOOK_DARK_256 },
	{ "light", LOOK_LIGHT_256 },
	{ "dark8", LOOK_DARK_8 },
	{ "light8", LOOK_LIGHT_8 },
};

static const struct named_look *find_look(const char *name)
{
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++)
		if (strcmp(looks[i].name, name) == 0)
			return &looks[i];
	return NULL;
}

static void add_color(struct strbuf *out, int color, int first)
{
	if (color >= 8)
		strbuf_addf(out, ";%d;5;%d", first + 8, color);
	else if (color >= 0)
		strbuf_addf(out, ";%d", first + color);
}

/* Append the escape sequence that selects the style of a cell. */
static void add_style(struct strbuf *out, enum look look, const struct cell *cell)
{
	const struct style *style = theme_style(look, (enum role)cell->role);
	int background = style->background;

	if (cell->back != CELL_PLAIN && cell->back != CELL_REVERSED)
		background = theme_style(look, (enum role)(cell->back - 1))->foreground;

	strbuf_add_text(out, "\033[0");
	if (style->flags & STYLE_BOLD)
		strbuf_add_text(out, ";1");
	if (style->flags & STYLE_DIM)
		strbuf_add_text(out, ";2");
	if (style->flags & STYLE_UNDERLINE)
		strbuf_add_text(out, ";4");
	if (!(style->flags & STYLE_REVERSE) != !(cell->back == CELL_REVERSED))
		strbuf_add_text(out, ";7");
	add_color(out, style->foreground, 30);
	add_color(out, background, 40);
	strbuf_add_char(out, 'm');
}

bool colored_text_add(struct strbuf *out, const struct canvas *c, const char *name)
{
	const struct named_look *found = find_look(name);

	for (int y = 0; found && y < c->height; y++) {
		const struct cell *line = &c->cells[(size_t)y * (size_t)c->width];

		for (int x = 0; x < c->width; x++) {
			if (x == 0 || line[x].role != line[x - 1].role ||
			    line[x].back != line[x - 1].back)
				add_style(out, found->look, &line[x]);
			if (line[x].width > 0)
				canvas_add_character(out, line[x].code_point);
		}
		strbuf_add_text(out, "\033[0m\n");
	}
	return found != NULL;
}
