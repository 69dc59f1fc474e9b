/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_report - write allocation counts as text, CSV or JSON. Also defines the columns
 * for these counts.
 */
#ifndef MS_RENDER_PROFILE_COUNT_REPORT_H
#define MS_RENDER_PROFILE_COUNT_REPORT_H

#include "base/strbuf.h"
#include "classify/profile/count_conclusion.h"
#include "model/count_runs.h"
#include "render/table/output.h"

/* A row of count_columns, with the counts of a program. */
struct count_row {
	const struct count_program *program;
	uint64_t unix_ms;
	uint64_t elapsed_ns; /* time since the command was started */
	/* the run that the row describes; NULL if there is only one run */
	const struct count_run *run;
};
extern const struct column_set count_columns;

/* Columns for rows of type struct count_thread. */
extern const struct column_set count_thread_columns;

/* Input of a report: the counts that were read at one point in time. */
struct count_report {
	const struct count_list *list;
	/* the only program to show; NULL: show all programs */
	const struct count_program *only;
	uint64_t unix_ms, elapsed_ns;
	size_t top; /* maximum number of rows per list in a text report */
	/*
	 * how the allocations were counted; used only by text reports, which set its
	 * member has_ended
	 */
	struct count_origin origin;
	struct table_options options;
};

/* Append the report as text, or as CSV rows without a header line. */
void count_report_add_text(struct strbuf *out, const struct count_report *report);
void count_report_add_csv(struct strbuf *out, const struct count_report *report,
			  const struct column_list *columns);

/* Append the report as one line of JSON, which ends with "\n". */
void count_report_add_json(struct strbuf *out, const struct count_report *report,
			   const struct column_list *columns);

/*
 * Append the status line that a terminal shows while the command runs. The line contains
 * no "\n", and is at most options.max_width columns wide. `before` contains the sums that
 * were read between_ns earlier, for the rates per second.
 */
void count_report_add_line(struct strbuf *out, const struct count_report *report,
			   const struct count_sums *before, uint64_t between_ns);

/* Add up the counts of all programs in the report. */
void count_report_sum(const struct count_report *report, struct count_sums *ret);

#endif
