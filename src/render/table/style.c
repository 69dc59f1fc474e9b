/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/table/style.h"

#include <string.h>

/*
 * Arguments of the SGR escape sequence for each style. The 8 basic colours follow the
 * palette of the user's terminal.
 */
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

void style_mark_line(struct strbuf *out, size_t begin, enum style style, bool colour)
{
	_cleanup_strbuf_ struct strbuf rest = STRBUF_INIT;
	size_t length;

	if (!colour || !sequences[style])
		return;
	while (begin < out->length && out->text[begin] == '\n')
		begin++;
	strbuf_add(&rest, out->text + begin, out->length - begin);
	strbuf_truncate(out, begin);
	length = strcspn(rest.text, "\n");
	style_begin(out, style, colour);
	strbuf_add(out, rest.text, length);
	style_end(out, style, colour);
	strbuf_add(out, rest.text + length, rest.length - length);
}
