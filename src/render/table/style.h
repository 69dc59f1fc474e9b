/* SPDX-License-Identifier: GPL-2.0-or-later */
/* style - the colours of text reports. Each style has one meaning. */
#ifndef MS_RENDER_TABLE_STYLE_H
#define MS_RENDER_TABLE_STYLE_H

#include <stdbool.h>

#include "base/strbuf.h"

enum style {
	STYLE_PLAIN,
	STYLE_HEADING,	   /* headings of tables, titles of sections */
	STYLE_PROBLEM,	   /* leaked memory, exceeded limits */
	STYLE_RECLAIMABLE, /* memory that can be released */
	STYLE_UNKNOWN,	   /* values that could not be read, omitted columns */
	STYLE_COUNT_
};

/* Append the escape sequences that begin and end the style; nothing without `colour`. */
void style_begin(struct strbuf *out, enum style style, bool colour);
void style_end(struct strbuf *out, enum style style, bool colour);

/*
 * Set the style of the first line that was appended since the text had `begin` bytes.
 * Empty lines before it are skipped. Do nothing without `colour`.
 */
void style_mark_line(struct strbuf *out, size_t begin, enum style style, bool colour);

#endif
