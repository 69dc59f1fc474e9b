/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/table/style.h"

#include <string.h>

/* Arguments of the escape sequence SGR. The 8 basic colours follow the user's palette. */
static const char *const sequences[STYLE_COUNT_] = {
	[STYLE_HEADING] = "1",
	[STYLE_PROBLEM] = "31",
	[STYLE_RECLAIMABLE] = "32",
	[STYLE_UNKNOWN] = "2",
};

void style_begin(struct strbuf *out, enum style style, bool colour)
{
	if (colour && sequences[style])
		strbuf_addf(out, "\033[%sm", sequences[style]);
}

void style_end(struct strbuf *out, enum style style, bool colour)
{
	if (colour && sequences[style])
		strbuf_add_text(out, "\033[0m");
}

static const struct {
	const char *label;
	enum style style;
} labels[] = {
	{ "leaked", STYLE_PROBLEM },
	{ "direct", STYLE_PROBLEM },
	{ "indirect", STYLE_PROBLEM },
	{ "killed", STYLE_PROBLEM },
	{ "LazyFree", STYLE_RECLAIMABLE },
	{ "page cache", STYLE_RECLAIMABLE },
	{ "reclaimable slab", STYLE_RECLAIMABLE },
	{ "pool_pages: free, whole pages", STYLE_RECLAIMABLE },
	{ "trimmable: malloc_trim(0) would return", STYLE_RECLAIMABLE },
};

/* Return true for a line of at least two words that are all in capitals. */
static bool is_heading(const char *line, size_t length)
{
	size_t letters = 0, words = 0;

	for (size_t i = 0; i < length; i++) {
		if (line[i] >= 'A' && line[i] <= 'Z')
			letters++;
		else if (!strchr(" -/%_", line[i]))
			return false;
		words += line[i] != ' ' && (i == 0 || line[i - 1] == ' ');
	}
	return letters > 2 && words > 1;
}

static enum style find_style(const char *line, size_t length)
{
	size_t indent = strspn(line, " ");

	if (is_heading(line, length))
		return STYLE_HEADING;
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		size_t size = strlen(labels[i].label);

		if (strncmp(line + indent, labels[i].label, size) == 0 &&
		    strncmp(line + indent + size, "  ", 2) == 0)
			return labels[i].style;
	}
	return STYLE_PLAIN;
}

void style_add_lines(struct strbuf *out, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		/* lines of tables already have styles */
		enum style style = memchr(text, '\033', length)
					   ? STYLE_PLAIN
					   : find_style(text, length);

		style_begin(out, style, true);
		strbuf_add(out, text, length);
		style_end(out, style, true);
		text += length;
		if (*text == '\n') {
			strbuf_add_char(out, '\n');
			text++;
		}
	}
}
