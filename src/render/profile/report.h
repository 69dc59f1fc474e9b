/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report - write a profile as text, CSV or JSON: a list of functions, and a call tree.
 * Also defines the columns of the list.
 */
#ifndef MS_RENDER_PROFILE_REPORT_H
#define MS_RENDER_PROFILE_REPORT_H

#include "base/strbuf.h"
#include "classify/profile/tree.h"
#include "model/profile.h"
#include "render/table/output.h"

/* A row of profile_columns, which describes a function. */
struct profile_row {
	const struct profile *profile;
	const char *name;
	const struct function_sums *sums;
};
extern const struct column_set profile_columns;

/* the value of `min` for 100 % of the metric */
#define PROFILE_MIN_UNIT 100000

struct profile_report {
	const struct profile *profile;
	/* sums of the metrics before rules were applied; NULL: there are no rules */
	const uint64_t *whole;
	/* metric to show, and to sort functions by */
	enum profile_metric metric;
	/* minimum share of the metric to show, in units of 1/PROFILE_MIN_UNIT */
	unsigned int min;
	/*
	 * true if the user set `min`; otherwise `min` is raised until the call tree is
	 * short enough
	 */
	bool is_min_given;
	/* true if the caller has already printed the program's name */
	bool is_head_printed;
	size_t top; /* maximum number of rows per list; 0: no limit */
	struct table_options options;
};

/* Append the report as text. */
void profile_report_add_text(struct strbuf *out, const struct profile_report *report);

/* Append a CSV row for each function, without a header line. */
void profile_report_add_csv(struct strbuf *out, const struct profile_report *report,
			    const struct column_list *columns);

/*
 * Append the report as one JSON object, followed by "\n". The object contains the
 * functions, their callers and the call tree.
 */
void profile_report_add_json(struct strbuf *out, const struct profile_report *report,
			     const struct column_list *columns);

#endif
