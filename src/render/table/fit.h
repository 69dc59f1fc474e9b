/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fit - make text fit into the width of a terminal. Escape sequences for colours have no
 * width and are never cut.
 */
#ifndef MS_RENDER_TABLE_FIT_H
#define MS_RENDER_TABLE_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/* Return the number of terminal columns that a line of text occupies. */
size_t fit_width(const char *text, size_t length);

/*
 * Append text, shortened to at most `width` columns with an ellipsis ("..." in ASCII). A
 * path or a qualified name loses its middle; other text loses its end.
 */
void fit_add_short(struct strbuf *out, const char *text, size_t length, size_t width,
		   bool ascii);

/*
 * Append text. If a line is wider than `width` columns, wrap it at spaces and indent the
 * continuation lines, or shorten a name at the end of the line. Leave other lines
 * unchanged, including the line that suggests the next command.
 */
void fit_add_lines(struct strbuf *out, const char *text, size_t width, bool ascii);

#endif
