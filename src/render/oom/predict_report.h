/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * predict_report - report, as text or JSON, whether the memory need of a cgroup and of
 * its processes is growing, and when it will reach the limit.
 */
#ifndef MS_RENDER_OOM_PREDICT_REPORT_H
#define MS_RENDER_OOM_PREDICT_REPORT_H

#include "base/strbuf.h"
#include "classify/growth/trends.h"
#include "render/table/output.h"

struct predict_report {
	/* cgroup at the time of the last sample; NULL if only processes are known */
	const struct cgroup *cgroup;
	const struct trends *trends;
	uint64_t unix_ms; /* time of the last sample */
	size_t top;	  /* maximum number of processes in the report */
	/* data for suggesting the next command; see struct oom_conclusion_options */
	const char *recording, *live_options;
	struct table_options options;
};

/* Append the report as text. */
void predict_report_add_text(struct strbuf *out, const struct predict_report *report);

/* Append the report as one line of JSON, which ends with "\n". */
void predict_report_add_json(struct strbuf *out, const struct predict_report *report);

/*
 * Return the kind of growth that the report describes: the growth of the cgroup or,
 * without a cgroup, of the first process in the report. Return GROWTH_NONE for a cgroup
 * without processes, and GROWTH_TOO_SHORT if there is neither a cgroup nor a process.
 */
enum growth_kind predict_report_kind(const struct predict_report *report);

#endif
