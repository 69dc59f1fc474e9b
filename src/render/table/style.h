/* SPDX-License-Identifier: GPL-2.0-or-later */
/* style - the colours of text reports. Each style stands for one meaning. */
#ifndef MS_RENDER_TABLE_STYLE_H
#define MS_RENDER_TABLE_STYLE_H

#include <stdbool.h>

#include "base/strbuf.h"

enum style {
	STYLE_PLAIN,
	STYLE_HEADING,	   /* headings of tables, titles of sections */
	STYLE_PROBLEM,	   /* leaked memory and exceeded limits */
	STYLE_RECLAIMABLE, /* memory that can be released */
	STYLE_UNKNOWN,	   /* values that could not be read, and omitted columns */
	STYLE_COUNT_
};

/*
 * Append the escape sequence that begins or ends a style. Append nothing if `colour`
 * is false.
 */
void style_begin(struct strbuf *out, enum style style, bool colour);
void style_end(struct strbuf *out, enum style style, bool colour);

/*
 * Apply a style to the first nonempty line after offset `begin` of the text. Do nothing
 * if `colour` is false.
 */
void style_mark_line(struct strbuf *out, size_t begin, enum style style, bool colour);

#endif
