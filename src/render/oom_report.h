/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_report - what fills a group, for a person and as CSV and JSON.
 */
#ifndef MS_RENDER_OOM_REPORT_H
#define MS_RENDER_OOM_REPORT_H

#include "base/strbuf.h"
#include "classify/oom_figures.h"
#include "classify/trends.h"
#include "render/output.h"

/* A row of oom_columns. */
struct oom_row {
	const struct cgroup *cgroup;
	const struct oom_figures *figures;
	uint64_t elapsed_ns; /* since the series began */
};
extern const struct column_set oom_columns;

struct oom_report {
	struct oom_row row;
	const struct snapshot *processes;
	const struct trend *need; /* of samples up to this one; NULL: none are known */
	size_t top; /* processes that are listed */
	struct table_options options;
};

void oom_report_add_text(struct strbuf *out, const struct oom_report *report);

/* One line, "\n" included: the columns, and the levels with their limits. */
void oom_report_add_json(struct strbuf *out, const struct oom_row *row,
			 const struct column_list *columns);

#endif
