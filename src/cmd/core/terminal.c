/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/core/terminal.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/num.h"

/* Minimum width for output. Narrower terminals wrap the lines themselves. */
#define WIDTH_MIN 20

static struct {
	bool has_text;
	bool has_colour;
	bool may_page;
} terminal;

/*
 * Return the width of the terminal, or the value of COLUMNS, or 0 if neither
 * is available.
 */
static int terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t number;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= WIDTH_MIN)
		return size.ws_col;
	if (columns && num_parse_u64(columns, &number) == 0 && number >= WIDTH_MIN &&
	    number <= 10000)
		return (int)number;
	return 0;
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] != '\0';
}

/* Return true if the terminal is known to have no colours. */
static bool is_dumb(void)
{
	const char *term = getenv("TERM");

	return !term || term[0] == '\0' || strcmp(term, "dumb") == 0;
}

void terminal_begin(const struct options *o)
{
	bool is_terminal = isatty(STDOUT_FILENO);
	bool is_text = o->format == FORMAT_AUTO || o->format == FORMAT_TEXT;
	bool has_colour = o->colour == COLOUR_ALWAYS;

	if (o->colour == COLOUR_AUTO)
		has_colour = is_terminal && !is_set("NO_COLOR") && !is_dumb();
	terminal.has_text = is_text && is_terminal;
	terminal.has_colour = is_text && has_colour;
	terminal.may_page = terminal.has_text && !o->no_pager && !o->command &&
			    !is_dumb();
}

bool terminal_has_text(void)
{
	return terminal.has_text;
}

bool terminal_needs_pager(const char *text)
{
	struct winsize size;
	size_t lines = 0;

	if (!terminal.may_page || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 ||
	    size.ws_row == 0)
		return false;
	for (; (text = strchr(text, '\n')); text++)
		lines++;
	/* the shell's prompt occupies one line */
	return lines >= size.ws_row;
}

void terminal_fit(struct table_options *ret)
{
	ret->max_width = terminal_width();
	ret->colour = terminal.has_colour;
	ret->ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}
