/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fit - fit text into the width of a terminal. Escape sequences that set colours have no
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
 * Append the text, shortened to at most `width` columns with an ellipsis ("..." in
 * ASCII). Paths and qualified names lose their middle, other text loses its end.
 */
void fit_add_short(struct strbuf *out, const char *text, size_t length, size_t width,
		   bool ascii);

/*
 * Append the text, in which lines wider than `width` columns are wrapped at blanks and
 * indented, or end with a shortened name. All other lines are unchanged, including the
 * line of a report that names the next command.
 */
void fit_add_lines(struct strbuf *out, const char *text, size_t width, bool ascii);

#endif
