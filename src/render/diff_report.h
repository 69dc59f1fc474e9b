/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_report - two profiles compared: for a person, as CSV and as JSON.
 */
#ifndef MS_RENDER_DIFF_REPORT_H
#define MS_RENDER_DIFF_REPORT_H

#include "base/strbuf.h"
#include "classify/profile_diff.h"
#include "render/output.h"

struct diff_side {
	const char *file; /* as it was named */
	const struct profile *profile;
	uint64_t taken_out; /* of the metric, by rules, so that it is in no stack */
};

struct diff_report {
	const struct profile_diff *diff;
	const struct profile_diff_options *options;
	struct diff_side before, after;
	size_t top; /* stacks of each list in a text */
	struct table_options table;
};

/* A row: a stack of one of the lists. */
struct diff_row {
	const struct diff_report *report;
	const struct profile_diff_stack *stack;
	const char *functions; /* innermost first, ';' between */
};
extern const struct column_set diff_columns;

void diff_report_add_text(struct strbuf *out, const struct diff_report *report);

void diff_report_add_csv(struct strbuf *out, const struct diff_report *report);

/* One line, "\n" included. */
void diff_report_add_json(struct strbuf *out, const struct diff_report *report);

#endif
