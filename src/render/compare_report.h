/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_report - a comparison as one text, as rows of columns, as JSON and as a page of HTML.
 *
 * Rows, variant by variant: its runs in their order, then the median, the lowest and the
 * highest of the good ones.
 */
#ifndef MS_RENDER_COMPARE_REPORT_H
#define MS_RENDER_COMPARE_REPORT_H

#include "base/strbuf.h"
#include "classify/compare.h"
#include "classify/verdict.h"
#include "render/output.h"

extern const struct column_set compare_columns;

/* What is shown of one comparison; all borrowed. */
struct compare_view {
	const struct comparison *comparison;
	const struct compared *compared;
	const struct verdicts *verdicts;
};

/* Verdict, table and growth graphs. At least 40 columns wide; 80 where max_width is 0. */
void compare_report_add(struct strbuf *out, const struct compare_view *view,
			const struct table_options *options);

/* The rows as a table, or as CSV with its header unless no_headings. */
void compare_add_table(struct strbuf *out, const struct compare_view *view,
		       const struct column_list *columns, const struct table_options *options);
void compare_add_csv(struct strbuf *out, const struct compare_view *view,
		     const struct column_list *columns, bool no_headings);

/* One line: the command, the sentences, and the rows. */
void compare_add_json(struct strbuf *out, const struct compare_view *view,
		      const struct column_list *columns);

/* One page that needs nothing but itself. */
void compare_add_html(struct strbuf *out, const struct compare_view *view);

#endif
