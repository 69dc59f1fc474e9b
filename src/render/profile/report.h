/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report - a profile as text, CSV or JSON, by function and as a call tree; the
 * columns of its functions.
 */
#ifndef MS_RENDER_PROFILE_REPORT_H
#define MS_RENDER_PROFILE_REPORT_H

#include "base/strbuf.h"
#include "classify/profile/tree.h"
#include "model/profile.h"
#include "render/table/output.h"

/* A row of profile_columns. */
struct profile_row {
	const struct profile *profile;
	const char *name;
	const struct function_sums *sums;
};
extern const struct column_set profile_columns;

#define PROFILE_MIN_UNIT 100000 /* the value of `min` that stands for the whole metric */

struct profile_report {
	const struct profile *profile;
	/* sums before rules were applied, by metric; NULL if there are no rules */
	const uint64_t *whole;
	enum profile_metric metric; /* the metric shown and sorted by */
	/* leave out anything with a smaller share of the metric, in 1/PROFILE_MIN_UNIT */
	unsigned int min;
	/* the user set min; if false, min is raised to shorten a tree that is too long */
	bool is_min_asked;
	bool has_head_above; /* the caller already printed which program it is */
	size_t top;	     /* maximum number of rows per list; 0: no limit */
	struct table_options options;
};

/* Append the report as text. */
void profile_report_add_text(struct strbuf *out, const struct profile_report *report);

/* Append a row for each function, without a header line. */
void profile_report_add_csv(struct strbuf *out, const struct profile_report *report,
			    const struct column_list *columns);

/*
 * Append one JSON object with the functions, their callers and the tree, "\n" included.
 */
void profile_report_add_json(struct strbuf *out, const struct profile_report *report,
			     const struct column_list *columns);

#endif
