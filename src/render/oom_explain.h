/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_explain - why a process ended, for a person and as JSON.
 */
#ifndef MS_RENDER_OOM_EXPLAIN_H
#define MS_RENDER_OOM_EXPLAIN_H

#include "base/strbuf.h"
#include "classify/oom_evidence.h"
#include "render/output.h"

struct oom_explain_options {
	size_t top; /* tasks that are listed */
	struct table_options table;
};

void oom_explain_add_text(struct strbuf *out, const struct oom_evidence *evidence,
			  const struct oom_explain_options *options);

/* One line, "\n" included. summary is JSON about all kills of the log, or NULL. */
void oom_explain_add_json(struct strbuf *out, const struct oom_evidence *evidence,
			  const char *summary);

#endif
