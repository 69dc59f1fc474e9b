/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines - the lines of the table that compares variants: which figures appear in which
 * order, and how to format them. Shared by the text report and the HTML report.
 */
#ifndef MS_RENDER_COMPARE_LINES_H
#define MS_RENDER_COMPARE_LINES_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "classify/compare/compare.h"
#include "render/table/column.h"

struct compare_line {
	const char *label;    /* memstate's own text, which needs no escaping */
	enum figure figure;   /* figure of the line; FIGURE_COUNT_ for a heading */
	enum value_kind kind; /* VALUE_BYTES, VALUE_COUNT or VALUE_SECONDS */
	/* omit the line if the figure is unknown or 0 for every variant */
	bool is_optional;
};

/* All lines of the table, in the order shown. Headings precede the lines below them. */
extern const struct compare_line compare_lines[];
extern const size_t compare_line_count;

/*
 * Return true if a line is shown. A heading is shown if any line below
 * the heading has a known figure.
 */
bool compare_line_is_shown(const struct compared *compared,
			   const struct compare_line *line);

/*
 * Append a value in the unit of its line: "72.0M", "1.2s" or
 * "1234". An unknown value is "-".
 */
void compare_line_add_value(struct strbuf *out, const struct compare_line *line,
			    uint64_t value, bool exact_bytes);

#endif
