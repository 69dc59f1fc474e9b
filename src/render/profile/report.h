/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report - a profile as text, CSV or JSON: a list of functions, and a call tree. Also
 * defines the columns of the list.
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

/* value of the member `min` that stands for 100 % of the metric */
#define PROFILE_MIN_UNIT 100000

struct profile_report {
	const struct profile *profile;
	/* sum of each metric before rules were applied; NULL if there are no rules */
	const uint64_t *whole;
	/* the metric to show, by which functions are sorted */
	enum profile_metric metric;
	/* minimum share of the metric to show, in units of 1/PROFILE_MIN_UNIT */
	unsigned int min;
	/*
	 * true if the user set `min`; if false, `min` is raised until the call tree is
	 * short enough
	 */
	bool is_min_given;
	bool is_head_printed; /* the caller has already printed the program's name */
	size_t top;	      /* maximum number of rows per list; 0: no limit */
	struct table_options options;
};

/* Append the report as text. */
void profile_report_add_text(struct strbuf *out, const struct profile_report *report);

/* Append a CSV row for each function, without a header line. */
void profile_report_add_csv(struct strbuf *out, const struct profile_report *report,
			    const struct column_list *columns);

/*
 * Append the report as one JSON object: the functions, their callers and the call tree.
 * The text ends with "\n".
 */
void profile_report_add_json(struct strbuf *out, const struct profile_report *report,
			     const struct column_list *columns);

#endif
