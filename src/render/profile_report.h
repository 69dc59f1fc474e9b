/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_report - a profile by functions and as a tree, for a person, as CSV and as JSON; and the
 * columns of its functions.
 */
#ifndef MS_RENDER_PROFILE_REPORT_H
#define MS_RENDER_PROFILE_REPORT_H

#include "base/strbuf.h"
#include "classify/profile_tree.h"
#include "model/profile.h"
#include "render/output.h"

/* A row of profile_columns. */
struct profile_row {
	const struct profile *profile;
	const char *name;
	const struct function_sums *sums;
};
extern const struct column_set profile_columns;

#define PROFILE_MIN_UNIT 100000 /* of `min`: all of the metric */

struct profile_report {
	const struct profile *profile;
	const uint64_t *whole; /* sums of it before rules were applied; NULL: none were */
	enum profile_metric metric; /* that is shown and sorted by */
	unsigned int min; /* what has a smaller share of it is not shown; of PROFILE_MIN_UNIT */
	bool is_min_asked; /* else a tree that is too long is cut at more */
	bool has_head_above; /* which program it is was said */
	size_t top;	  /* as much of each list is; 0: all */
	struct table_options options;
};

void profile_report_add_text(struct strbuf *out, const struct profile_report *report);

/* A row for each function, without the header. */
void profile_report_add_csv(struct strbuf *out, const struct profile_report *report,
			    const struct column_list *columns);

/* One object, with the functions, their callers and the tree, "\n" included. */
void profile_report_add_json(struct strbuf *out, const struct profile_report *report,
			     const struct column_list *columns);

#endif
