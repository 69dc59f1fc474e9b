/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_report - write the differences between two profiles as text, CSV or JSON.
 */
#ifndef MS_RENDER_PROCESS_DIFF_REPORT_H
#define MS_RENDER_PROCESS_DIFF_REPORT_H

#include "base/strbuf.h"
#include "classify/profile/diff.h"
#include "render/table/output.h"

struct diff_side {
	const char *file; /* file name of the profile as the user entered it */
	const struct profile *profile;
	/*
	 * amount of the metric that rules removed, which no stack in the report includes
	 */
	uint64_t removed;
};

struct diff_report {
	const struct profile_diff *diff;
	const struct profile_diff_options *options;
	struct diff_side before, after;
	size_t top; /* maximum number of stacks per list in a text report */
	struct table_options table;
};

/* A row of diff_columns, which describes a stack in one of the lists. */
struct diff_row {
	const struct diff_report *report;
	const struct profile_diff_stack *stack;
	/* names of the stack's functions, innermost first, separated by ';' */
	const char *functions;
};
extern const struct column_set diff_columns;

/* Append the report as text. */
void diff_report_add_text(struct strbuf *out, const struct diff_report *report);

/*
 * Append a CSV row for each listed stack, after a header line unless table.no_headings
 * is set.
 */
void diff_report_add_csv(struct strbuf *out, const struct diff_report *report);

/* Append the report as one line of JSON, which ends with "\n". */
void diff_report_add_json(struct strbuf *out, const struct diff_report *report);

#endif
