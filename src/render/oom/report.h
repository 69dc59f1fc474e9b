/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report - show which kinds of memory the usage of a cgroup consists of, as text, CSV or
 * JSON.
 */
#ifndef MS_RENDER_OOM_REPORT_H
#define MS_RENDER_OOM_REPORT_H

#include "base/strbuf.h"
#include "classify/cgroup/figures.h"
#include "classify/growth/trends.h"
#include "render/table/output.h"

/* A row of oom_columns, which describes a cgroup in one sample. */
struct oom_row {
	const struct cgroup *cgroup;
	const struct oom_figures *figures;
	uint64_t elapsed_ns; /* time since the first sample of the series */
};
extern const struct column_set oom_columns;

struct oom_report {
	struct oom_row row;
	const struct snapshot *processes;
	/* growth of the memory need, from all samples up to this row; NULL if unknown */
	const struct trend *need;
	size_t top; /* maximum number of processes in the report */
	/* data for suggesting the next command; see struct oom_conclusion_options */
	const char *recording, *live_options;
	struct table_options options;
};

/* Append the report as text. */
void oom_report_add_text(struct strbuf *out, const struct oom_report *report);

/*
 * Append the report as one line of JSON, which ends with "\n". The report contains all
 * columns, and each level of the cgroup hierarchy with its limit.
 */
void oom_report_add_json(struct strbuf *out, const struct oom_row *row,
			 const struct column_list *columns);

#endif
