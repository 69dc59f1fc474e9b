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
 * Append the text of a report with colours. Lines in capitals are headings, and the label
 * before an amount, such as "leaked", selects the style of its line.
 */
void style_add_lines(struct strbuf *out, const char *text);

#endif
