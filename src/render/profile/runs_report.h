/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runs_report - write the counts of several runs of a command as text, as CSV with a row
 * per run, or as JSON.
 */
#ifndef MS_RENDER_PROFILE_RUNS_REPORT_H
#define MS_RENDER_PROFILE_RUNS_REPORT_H

#include "classify/profile/count_stats.h"
#include "render/table/output.h"

/* A limit, and the result of checking the runs against it. */
struct checked_limit {
	struct count_limit limit;
	enum limit_outcome outcome;
};

struct runs_report {
	const struct count_runs *runs;
	const struct count_stats *stats;
	const char *command; /* command and arguments as one line */
	const struct checked_limit *limits;
	size_t limit_count;
	struct table_options options;
};

/* Default columns of CSV, as a comma-separated list of names. */
extern const char runs_csv_default[];

/* Append the report as text, or as CSV rows without a header line. */
void runs_report_add_text(struct strbuf *out, const struct runs_report *report);
void runs_report_add_csv(struct strbuf *out, const struct runs_report *report,
			 const struct column_list *columns);

/* Append the report as one line of JSON, which ends with "\n". */
void runs_report_add_json(struct strbuf *out, const struct runs_report *report,
			  const struct column_list *columns);

#endif
