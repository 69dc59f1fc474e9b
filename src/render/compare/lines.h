/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines - the lines of the table that compares variants: the order of the figures, and
 * their formats. Shared by the text report and the HTML report.
 */
#ifndef MS_RENDER_COMPARE_LINES_H
#define MS_RENDER_COMPARE_LINES_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "classify/compare/compare.h"
#include "render/table/column.h"

struct compare_line {
	const char *label;  /* label chosen by memstate; needs no escaping */
	enum figure figure; /* figure shown in the line; FIGURE_COUNT_ for a heading */
	/* unit of the figure: VALUE_BYTES, VALUE_COUNT or VALUE_SECONDS */
	enum value_kind kind;
	/* true to omit the line if its figure is unknown or 0 for every variant */
	bool is_optional;
};

/* All lines of the table in display order. A heading precedes its lines. */
extern const struct compare_line compare_lines[];
extern const size_t compare_line_count;

/* Return true if a line is shown. A heading is shown if any figure below it is known. */
bool compare_line_is_shown(const struct compared *compared,
			   const struct compare_line *line);

/*
 * Append a value in the unit of its line, such as "72.0M", "1.2s" or "1234". An unknown
 * value is shown as "-".
 */
void compare_line_add_value(struct strbuf *out, const struct compare_line *line,
			    uint64_t value, bool exact_bytes);

#endif
