/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_lines - the table of a comparison that a person reads, in a text as on a page:
 * which figures are in which order, and how they are said.
 */
#ifndef MS_RENDER_COMPARE_LINES_H
#define MS_RENDER_COMPARE_LINES_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "classify/compare.h"
#include "render/column.h"

struct compare_line {
	const char *label;    /* of ours */
	enum figure figure;   /* FIGURE_COUNT_: a heading */
	enum value_kind kind; /* VALUE_BYTES, VALUE_COUNT or VALUE_SECONDS */
	/* left out where it is unknown under all, or 0 */
	bool is_optional;
};

/* A heading is before the lines below it. */
extern const struct compare_line compare_lines[];
extern const size_t compare_line_count;

/* Whether a line, or the lines below a heading, have anything to say. */
bool compare_line_is_shown(const struct compared *compared, const struct compare_line *line);

/* "72.0M", "1.2s", "1234"; "-" if it is not known. */
void compare_line_add_value(struct strbuf *out, const struct compare_line *line,
			    uint64_t value, bool exact_bytes);

#endif
