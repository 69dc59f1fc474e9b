/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * predict_report - whether what a group and its processes need grows, and when it will
 * meet the limit, for a person and as JSON.
 */
#ifndef MS_RENDER_PREDICT_REPORT_H
#define MS_RENDER_PREDICT_REPORT_H

#include "base/strbuf.h"
#include "classify/trends.h"
#include "render/output.h"

struct predict_report {
	const struct cgroup
		*cgroup; /* as of the last sample; NULL: only processes are known */
	const struct trends *trends;
	uint64_t unix_ms; /* of the last sample */
	size_t top;	  /* processes that are listed */
	struct table_options options;
};

void predict_report_add_text(struct strbuf *out, const struct predict_report *report);

/* One line, "\n" included. */
void predict_report_add_json(struct strbuf *out, const struct predict_report *report);

/*
 * What the answer is about: the group, or without one the process that needs most.
 * GROWTH_TOO_SHORT if there is neither.
 */
enum growth_kind predict_report_kind(const struct predict_report *report);

#endif
