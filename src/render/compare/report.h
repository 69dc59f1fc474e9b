/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report - write a comparison of variants as text, table, CSV, JSON or an HTML page. Rows
 * are grouped by variant: first the variant's runs in order, and then the median, the
 * minimum and the maximum of its successful runs.
 */
#ifndef MS_RENDER_COMPARE_REPORT_H
#define MS_RENDER_COMPARE_REPORT_H

#include "base/strbuf.h"
#include "classify/compare/compare.h"
#include "classify/compare/verdict.h"
#include "render/table/output.h"

extern const struct column_set compare_columns;

/* Input of all reports about a comparison. All pointers are borrowed. */
struct compare_view {
	const struct comparison *comparison;
	const struct compared *compared;
	const struct verdicts *verdicts;
};

/*
 * Append the verdict, the table and the growth graphs as text. The text is
 * options->max_width columns wide, but at least 40; 0 stands for 80 columns.
 */
void compare_report_add(struct strbuf *out, const struct compare_view *view,
			const struct table_options *options);

/*
 * Append the rows of the comparison as a table or as CSV. CSV starts with a header line
 * unless no_headings is set.
 */
void compare_add_table(struct strbuf *out, const struct compare_view *view,
		       const struct column_list *columns,
		       const struct table_options *options);
void compare_add_csv(struct strbuf *out, const struct compare_view *view,
		     const struct column_list *columns, bool no_headings);

/*
 * Append one line of JSON with the command, the sentences of the verdict and the rows of
 * the comparison.
 */
void compare_add_json(struct strbuf *out, const struct compare_view *view,
		      const struct column_list *columns);

/* Append the comparison as a self-contained HTML page. */
void compare_add_html(struct strbuf *out, const struct compare_view *view);

#endif
